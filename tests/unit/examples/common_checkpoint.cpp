#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <examples/common/files.hpp>
#include <examples/common/checkpoint.hpp>
#include <limits>

#include "folder.hpp"

namespace {

const examples::checkpoint sample{"rate=0.1\nseed=1\n", 12, {2, 3}, {0.1f, -0.0f, 1e-45f, 3e38f, -7.5f}};

std::string load_error(const test_folder& folder, const std::string& bytes) {
  const auto path = folder.file("c.bin", bytes);
  return what_is_thrown(folder, [&] { static_cast<void>(examples::load(path, sample.fingerprint, sample.sizes)); });
}

}  // namespace

TEST_CASE("a checkpoint comes back bit for bit") {
  const test_folder folder;
  auto state = sample;
  state.parameters[0] = std::numeric_limits<float>::quiet_NaN();  // even a diverged run
  examples::save(folder.path / "c.bin", state);
  const auto back = examples::load(folder.path / "c.bin", state.fingerprint, state.sizes);
  CHECK(back.round == 12);
  CHECK(std::memcmp(back.parameters.data(), state.parameters.data(), 5 * sizeof(float)) == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);  // nothing temporary is left
}

TEST_CASE("a checkpoint of doubles comes back bit for bit, and is none of floats") {
  const test_folder folder;
  const auto path = folder.path / "c.bin";
  const examples::checkpoint_of<double> state{sample.fingerprint, 3, {2, 1}, {0.1, -0.0, 5e-324}};
  examples::save_doubles(path, state);
  const auto back = examples::load_doubles(path, state.fingerprint, state.sizes);
  CHECK(back == state);
  CHECK(std::signbit(back.parameters[1]));
  const auto as_floats = [&] { static_cast<void>(examples::load(path, state.fingerprint, state.sizes)); };
  CHECK(what_is_thrown(folder, as_floats) == "c.bin: is damaged: the sizes in it contradict each other");
  examples::save(path, sample);
  const auto as_doubles = [&] { static_cast<void>(examples::load_doubles(path, sample.fingerprint, sample.sizes)); };
  CHECK(what_is_thrown(folder, as_doubles) == "c.bin: is damaged: the sizes in it contradict each other");
}

TEST_CASE("a checkpoint of another run or model is refused") {
  const test_folder folder;
  const auto path = folder.path / "c.bin";
  examples::save(path, sample);
  const auto load = [&](std::string_view fingerprint, std::vector<std::uint64_t> sizes) {
    return what_is_thrown(folder, [&] { static_cast<void>(examples::load(path, fingerprint, sizes)); });
  };
  CHECK(load("rate=0.2\nseed=1\n", {2, 3}) == "c.bin: belongs to a run with rate=0.1, this one has rate=0.2");
  CHECK(load("rate=0.1\nseed=3\n", {2, 3}) == "c.bin: belongs to a run with seed=1, this one has seed=3");
  CHECK(load(sample.fingerprint, {2, 4}) == "c.bin: holds a model of sizes [2, 3], this one has [2, 4]");
  examples::save(path, {sample.fingerprint, 1, {2, 3}, {1.0f}});
  CHECK(load(sample.fingerprint, {2, 3}) == "c.bin: holds 1 parameters, expected 5");
}

TEST_CASE("a damaged checkpoint is refused") {
  const test_folder folder;
  examples::save(folder.path / "c.bin", sample);
  const std::string good = examples::read_file(folder.path / "c.bin");
  REQUIRE(load_error(folder, good).empty());
  CHECK(load_error(folder, "") == "c.bin: is not a checkpoint of this program");
  CHECK(load_error(folder, "label,x\n1,2\n") == "c.bin: is not a checkpoint of this program");
  CHECK(load_error(folder, good.substr(0, 20)) == "c.bin: is cut short: 20 bytes, expected at least 24");
  CHECK(load_error(folder, good.substr(0, 100)) ==
        "c.bin: is cut short or has a tail: 76 bytes of content, expected 84");
  CHECK(load_error(folder, good + "x") == "c.bin: is cut short or has a tail: 85 bytes of content, expected 84");
  auto newer = good;
  newer[8] = 2;
  CHECK(load_error(folder, newer) == "c.bin: has format version 2, expected 1");
  for (std::size_t i = 0; i < good.size(); ++i) {  // no flipped bit goes unseen
    auto damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    CHECK_FALSE(load_error(folder, damaged).empty());
  }
  const auto missing = [&] { static_cast<void>(examples::load(folder.path / "none.bin", "", {})); };
  CHECK(what_is_thrown(folder, missing) == "none.bin: cannot be read: No such file or directory");
  const auto nowhere = [&] { examples::save(folder.path / "none" / "c.bin", sample); };
  CHECK(what_is_thrown(folder, nowhere) == "none/c.bin: cannot be written: No such file or directory");
}
