// The C interface answers as a worker does, from any number of threads; what is wrong gets a code and a sentence.
// (examples/engines/check.py loads a shared object.)
#include "c_caller.h"
#include "requests.hpp"

#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/engines/shared_object.hpp>
#include <drx/engines/worker.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {
using namespace two_programs;

/// The answer of a worker, which reads a frame and writes one.
bytes of_worker(const bytes& payload) {
  int in[2], out[2];
  REQUIRE((::pipe(in) == 0 && ::pipe(out) == 0));
  drx::engines::write_packet(in[1], drx::engines::packet_of(payload));
  ::close(in[1]);
  auto s = drx::engines::detail::server_of<Total, Twice>();
  CHECK(drx::engines::detail::serve(s, in[0], out[1]) == drx::engines::worker_exit::done);
  ::close(out[1]);
  bytes all(1 << 16);
  all.resize(drx::engines::detail::read_some(out[0], all.data(), all.size()));
  ::close(in[0]);
  ::close(out[0]);
  return {all.begin() + sizeof(drx::engines::detail::frame_header), all.end()};
}

struct opened {
  const drx_engine* engine = drx_engine_of();
  drx_engine_handle* handle = nullptr;
  opened() { REQUIRE(engine->open(&handle) == DRX_ENGINE_DONE); }
  opened(const opened&) = delete;
  ~opened() { engine->close(handle); }

  /// The code, and the answer or sentence.
  std::pair<int, bytes> operator()(const bytes& payload) const {
    char* data = nullptr;
    std::size_t size = 0;
    const int code = ask(engine, handle, payload.data(), payload.size(), &data, &size);
    const auto* begin = reinterpret_cast<const std::byte*>(data);
    bytes answer(begin, begin + size);
    std::free(data);
    return {code, answer};
  }
  bytes good(const bytes& payload) const {
    auto [code, answer] = (*this)(payload);
    if (code != DRX_ENGINE_DONE) throw std::runtime_error(text(answer));
    return answer;
  }
};
}  // namespace

extern "C" const drx_engine* drx_engine_of() { return drx::engine_table<Total, Twice>(); }

TEST_CASE("the answers have the bytes of a worker's") {
  const values file;
  const opened shared;
  const auto by_worker = call(file.path, raw(0.5), of_worker);
  CHECK(by_worker.size() == 1 + 2 * 5 + 1);
  double result = NAN;
  std::memcpy(&result, drx::engines::packet_of(by_worker.back().second).blobs.at(0).data(), sizeof result);
  CHECK(std::isfinite(result));
  CHECK(call(file.path, raw(0.5), [&](const bytes& b) { return shared.good(b); }) == by_worker);
}

TEST_CASE("threads have a handle each, or share one") {
  constexpr int threads = 4, times = 20;
  const values file;
  const opened one;
  for (const bool share : {false, true}) {
    CAPTURE(share);
    std::vector<int> same(threads, 0);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        const opened own;
        const opened& used = share ? one : own;
        const auto ask = [&](const bytes& b) { return used.good(b); };
        auto alone = drx::engines::detail::server_of<Total, Twice>();
        const auto expected = call(file.path, raw(0.25 * t), [&](const bytes& b) {
          return drx::engines::payload_of(alone.answer(drx::engines::packet_of(b)));
        });
        try {
          for (int i = 0; i < times; ++i)
            same[static_cast<std::size_t>(t)] += call(file.path, raw(0.25 * t), ask) == expected;
        } catch (const std::exception&) {  // counted as another answer
        }
      });
    for (std::thread& t : running) t.join();
    for (const int n : same) CHECK(n == times);
  }
}

TEST_CASE("what is wrong gets a code and a sentence, and the handle stays good") {
  const opened shared;
  const auto check = [&](const bytes& payload, int code, const std::string& words) {
    const auto [got, answer] = shared(payload);
    const std::string said = text(answer);
    CAPTURE(said);
    CHECK(got == code);
    CHECK(said.find(words) != std::string::npos);
    CHECK(shared(drx::engines::payload_of({request("finish"), {raw(1)}})).first == DRX_ENGINE_DONE);
  };
  const auto refused = [&](packet p, const std::string& words) {
    check(drx::engines::payload_of(std::move(p)), DRX_ENGINE_REFUSED, words);
  };
  json other = request("finish");
  other["plan"] = "0";
  refused({other, {raw(1)}}, "drx: the request goes by plan 0, but program 1 of this executable has plan");
  other = request("finish");
  other["program"] = 2;
  refused({other, {raw(1)}}, "drx: program 2 of a worker that serves 2");
  refused({request("finish"), {}}, "drx: a request with 0 blobs needs 1");
  refused({request("finish"), {bytes(3)}}, "drx: argument 0, leaf 0 has 3 bytes; 1 of f64 have 8");
  refused({request("everything"), {}}, "asked for is \"everything\"");
  CHECK(drx::plan_json<Twice>()["stages"][0]["map"]["members_of_leaf"] == 128);  // which numbers of members become
  other = request("root");
  other["stage"] = 0;
  other["partials"] = json::array();
  for (const std::int64_t count : {INT64_MAX, INT64_MAX - 127, INT64_MIN, INT64_MIN + 1, std::int64_t{-1}}) {
    other["count"] = count;
    refused({other, {}}, "are not those of all " + std::to_string(count) + " members");
  }
  other["partials"] = {{{48, 0}}};
  other["count"] = INT64_MAX;
  refused({other, {raw(1)}}, "are not those of all 9223372036854775807 members: they cover 36028797018963968 of them");
  for (const std::uint64_t count : {std::uint64_t{1} << 63, UINT64_MAX}) {
    other["count"] = count;
    refused({other, {raw(1)}}, "a request's \"count\" is " + std::to_string(count) + ", which has more than 64 bits");
  }
  other = request("finish");
  for (const std::int64_t n : {INT64_MAX, (std::int64_t{1} << 48) + 1}) {
    other["members"]["rows"] = n;
    refused({other, {raw(1)}}, "drx: " + std::to_string(n) + " members of rows; engines take up to 2^48 members");
  }
  const values file;
  other = request("map");
  other["members"]["rows"] = std::int64_t{1} << 48;
  for (const auto& [first, count] :
       {std::pair{INT64_MAX, INT64_MAX}, {std::int64_t{1}, INT64_MAX}, {INT64_MAX, std::int64_t{0}}}) {
    other["partitions"] = {{{"first", first}, {"count", count}, {"leaves", {{{"path", file.path}, {"offset", 0}}}}}};
    refused({other, {raw(1)}}, count > 0 ? "it has 37 members of f64; asked for are 9223372036854775807 from 0 on"
                                         : "drx: 0 members from 9223372036854775807 on, of 281474976710656 members");
  }
  const bytes good = drx::engines::payload_of({request("finish"), {raw(1)}});
  check({}, DRX_ENGINE_DAMAGED, "drx: a frame has no document");
  check({good.begin(), good.end() - 1}, DRX_ENGINE_DAMAGED, "\"blobs\" are longer than the frame");
  const std::string deep = "{\"do\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  const auto length = static_cast<std::uint32_t>(deep.size());
  check(text(std::string(reinterpret_cast<const char*>(&length), sizeof length) + deep), DRX_ENGINE_DAMAGED,
        "drx: a frame's document has more than 32 levels");
}

TEST_CASE("null pointers and small buffers are refused") {
  const opened shared;
  const drx_engine& c = *shared.engine;
  CHECK(c.version == DRX_ENGINE_VERSION);
  CHECK(c.open(nullptr) == DRX_ENGINE_MISUSED);
  const bytes good = drx::engines::payload_of({request("finish"), {raw(1)}});
  drx_engine_answer* answer = nullptr;
  CHECK(c.request(nullptr, good.data(), good.size(), &answer) == DRX_ENGINE_MISUSED);
  CHECK(answer == nullptr);
  CHECK(c.request(shared.handle, nullptr, 4, &answer) == DRX_ENGINE_MISUSED);
  CHECK(answer == nullptr);
  CHECK(c.request(shared.handle, good.data(), good.size(), nullptr) == DRX_ENGINE_MISUSED);
  CHECK(c.size(nullptr) == 0);
  REQUIRE(c.request(shared.handle, good.data(), good.size(), &answer) == DRX_ENGINE_DONE);
  bytes buffer(c.size(answer));
  REQUIRE(!buffer.empty());
  CHECK(c.take(answer, buffer.data(), buffer.size() - 1) == DRX_ENGINE_TOO_SMALL);
  CHECK(buffer == bytes(buffer.size()));
  CHECK(c.take(answer, nullptr, buffer.size()) == DRX_ENGINE_MISUSED);
  CHECK(c.take(nullptr, buffer.data(), buffer.size()) == DRX_ENGINE_MISUSED);
  CHECK(c.take(answer, buffer.data(), buffer.size()) == DRX_ENGINE_DONE);
  CHECK(drx::engines::packet_of(buffer).head["stage"] == 0);
  c.release(answer);
  c.release(nullptr);
  c.close(nullptr);
  for (int code = -1; code <= 6; ++code) CHECK(std::string(c.message(code)).starts_with("drx: "));
}

TEST_CASE("requests with changed bytes are answered or refused") {
  const values file;
  const opened shared;
  const auto requests = call(file.path, raw(0.5), of_worker);
  std::mt19937 random(7);
  int done = 0, refused = 0, damaged = 0, others = 0;
  for (int i = 0; i < 3000; ++i) {
    bytes changed = requests[random() % requests.size()].first;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n)
      changed[random() % changed.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    const int code = shared(changed).first;
    ++(code == DRX_ENGINE_DONE      ? done
       : code == DRX_ENGINE_REFUSED ? refused
       : code == DRX_ENGINE_DAMAGED ? damaged
                                    : others);
  }
  CHECK(done > 0);
  CHECK(refused > 0);
  CHECK(damaged > 0);
  CHECK(others == 0);
}
