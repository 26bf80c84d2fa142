// A worker answers requests until one of them is wrong. (examples/engines/check.py asks one in a process of its own.)
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/engines/worker.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {
using drx::engines::bytes;
using drx::engines::packet;
using json = nlohmann::ordered_json;

struct rows : drx::placement<rows> {};
constexpr auto total = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto v, auto row) { return v * row; }, drx::broadcast<rows>(w), x));
};
using Total = drx::program<total, double, drx::placed<double, rows>>;

bytes raw(const std::vector<double>& x) {
  const auto* from = reinterpret_cast<const std::byte*>(x.data());
  return {from, from + x.size() * sizeof(double)};
}
double number(const bytes& b) {
  double x = 0;
  REQUIRE(b.size() == sizeof x);
  std::memcpy(&x, b.data(), sizeof x);
  return x;
}
drx::engines::detail::server server() {
  std::vector<drx::engines::detail::served_entry> programs;
  programs.push_back(drx::engines::detail::served_entry::of<Total>());
  return drx::engines::detail::server(std::move(programs));
}
json request(const std::string& what) {
  return {{"do", what},
          {"program", 0},
          {"plan", drx::plan_json<Total>()["hash"]},
          {"members", {{"rows", 3}}},
          {"roots", 0}};
}
}  // namespace

TEST_CASE("map, root and finish") {
  char path[] = "/tmp/drx_worker_XXXXXX";
  const int descriptor = ::mkstemp(path);
  REQUIRE(descriptor >= 0);
  const bytes values = raw({1, 2, 4});
  drx::engines::detail::write_all(descriptor, values);
  ::close(descriptor);
  auto s = server();
  CHECK(s.answer({{{"do", "programs"}}, {}}).head["programs"][0]["plan"]["map_reduce_form"] == true);
  CHECK(s.answer({request("finish"), {raw({10})}}).head["stage"] == 0);
  json of_two = request("map");
  of_two["partitions"] = {{{"first", 2}, {"count", 1}, {"leaves", {{{"path", path}, {"offset", 2}}}}},
                          {{"first", 0}, {"count", 2}, {"leaves", {{{"path", path}, {"offset", 0}}}}}};
  packet mapped = s.answer({of_two, {raw({10})}});
  CHECK(mapped.head["nodes"] == json({{1, 0}, {0, 2}}));
  json root = request("root");
  root["stage"] = 0;
  root["count"] = 3;
  root["partials"] = json::array({mapped.head["nodes"]});
  const packet at_root = s.answer({root, mapped.blobs});
  CHECK(number(at_root.blobs.at(0)) == 70);
  json finish = request("finish");
  finish["roots"] = 1;
  const packet result = s.answer({finish, {raw({10}), at_root.blobs[0]}});
  CHECK(result.head["stage"].is_null());
  CHECK(number(result.blobs.at(0)) == 70);
  of_two["partitions"][0]["leaves"] = json::array();
  CHECK_THROWS_WITH(s.answer({of_two, {raw({10})}}),
                    "drx: a partition with 0 leaves of members of rows; the program takes more");
  finish["roots"] = -1;
  CHECK_THROWS_WITH(s.answer({finish, {raw({10})}}), "drx: a request with -1 roots");
  CHECK_THROWS_WITH(s.answer({{{"do", "map"}, {"program", "x"}}, {}}),
                    "drx: a request's \"program\" is \"x\", which is no integer");
  std::remove(path);
}

TEST_CASE("a worker ends with its input, and at what is wrong") {
  const auto served = [](const std::vector<packet>& requests, bool damage) {
    int in[2], out[2];
    REQUIRE((::pipe(in) == 0 && ::pipe(out) == 0));
    for (const packet& p : requests) drx::engines::write_packet(in[1], p);
    if (damage) drx::engines::detail::write_all(in[1], bytes(20));
    ::close(in[1]);
    auto s = server();
    const auto end = drx::engines::detail::serve(s, in[0], out[1]);
    ::close(out[1]);
    std::vector<packet> answers;
    while (auto p = drx::engines::read_packet(out[0])) answers.push_back(std::move(*p));
    ::close(in[0]);
    ::close(out[0]);
    return std::pair{end, answers};
  };
  using drx::engines::worker_exit;
  const packet good{request("finish"), {raw({1})}}, bad{request("nothing"), {}};
  const auto [done, two] = served({good, good}, false);
  CHECK(done == worker_exit::done);
  CHECK(two.size() == 2);
  const auto [refused, named] = served({good, bad, good}, false);
  CHECK(refused == worker_exit::refused);
  CHECK(named.size() == 2);
  CHECK(named.back().head.contains("error"));
  const auto [damaged, last] = served({good}, true);
  CHECK(damaged == worker_exit::damaged);
  CHECK(last.back().head["error"] == "drx: a frame does not begin with drx1");
}
