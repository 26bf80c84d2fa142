#include <doctest/doctest.h>

#include <examples/common/start.hpp>
#include <examples/fedavg/options.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "folder.hpp"

namespace {

std::variant<fedavg::options, fedavg::stop> parse(std::initializer_list<const char*> words) {
  std::vector<const char*> argv{"fedavg"};
  argv.insert(argv.end(), words);
  return fedavg::parse(static_cast<int>(argv.size()), argv.data());
}

std::string refusal(std::initializer_list<const char*> words) {
  const auto parsed = parse(words);
  REQUIRE(std::holds_alternative<fedavg::stop>(parsed));
  const auto& [code, text] = std::get<fedavg::stop>(parsed);
  CHECK(code == 2);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("fedavg: options are taken over") {
  const auto parsed =
      parse({"--data", "my.csv", "--rate", "1e-3", "--seed", "18446744073709551615", "--central", "--out", "o"});
  REQUIRE(std::holds_alternative<fedavg::options>(parsed));
  const auto& o = std::get<fedavg::options>(parsed);
  CHECK(o.data_file() == "my.csv");
  CHECK(o.rate == 1e-3);
  CHECK(o.seed == UINT64_MAX);
  CHECK(o.central);
  CHECK_FALSE(o.resume);
  CHECK(o.out == "o");
}

TEST_CASE("fedavg: wrong options are refused with what is right") {
  CHECK(refusal({"--rate", "nan"}) == "--rate: 'nan' is not a number from 1e-09 to 1000");
  CHECK(refusal({"--participation", "0"}) == "--participation: '0' is not a number from 1e-06 to 1");
  CHECK(refusal({"--clients", "0"}) == "--clients: '0' is not a whole number from 1 to 1000000");
  CHECK(refusal({"--rounds", "1e3"}) == "--rounds: '1e3' is not a whole number from 1 to 1000000");
  CHECK(refusal({"--local-steps", "7"}) ==
        "--local-steps: '7' is not one of 1, 8, which are compiled in (examples/fedavg/shapes.hpp)");
  CHECK(refusal({"--threads", "513"}) ==
        "--threads: '513' is not a whole number from 0 to " + std::to_string(examples::most_threads()));
  CHECK(refusal({"--batch", "32"}) == "The following arguments were not expected: 32 --batch");
  CHECK(refusal({"--seed", "-1"}) == "--seed: '-1' is not a whole number from 0 to 18446744073709551615");
  CHECK(refusal({"--data", "mnist"}) == "--data: 'mnist' is not digits, flights or the path of a .csv file");
  CHECK(refusal({"--bogus"}) == "The following argument was not expected: --bogus");
}

TEST_CASE("fedavg: help ends well and names ranges") {
  const auto parsed = parse({"--help"});
  REQUIRE(std::holds_alternative<fedavg::stop>(parsed));
  const auto& [code, text] = std::get<fedavg::stop>(parsed);
  CHECK(code == 0);
  CHECK(text.find("learning rate of the clients (1e-09 to 1000; default 0.1)") != std::string::npos);
}

TEST_CASE("fedavg: a known data set that is missing says how to get it") {
  const test_folder folder;
  fedavg::options o;
  o.data_dir = folder.path / "d";
  CHECK(what_is_thrown(folder, [&] { static_cast<void>(o.data_file()); }) ==
        "d/digits.csv: is missing: python3 examples/common/get_data.py digits --into d");
}

TEST_CASE("fedavg: the fingerprint holds what decides the result, nothing else") {
  fedavg::options a, b;
  b.rounds = 1000;
  b.threads = 7;
  b.out = "elsewhere";
  b.resume = true;
  CHECK(fedavg::fingerprint(a, 1) == fedavg::fingerprint(b, 1));
  CHECK(fedavg::fingerprint(a, 1) != fedavg::fingerprint(a, 2));
  b.rate = 0.2;
  CHECK(fedavg::fingerprint(a, 1) != fedavg::fingerprint(b, 1));
}
