#include <drx/drx.hpp>
#include <drx/plan/shards/map_joiner.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

struct clients : drx::placement<clients> {};
using numbers = drx::array<double, 3>;

constexpr auto twice = [](auto x) { return 2 * x; };
constexpr auto chain = [](auto x, auto y) {  // the third map needs the first one's result, the second nothing of it
  auto a = drx::map(twice, x);
  auto b = drx::map([](auto v) { return drx::sin(v); }, y);
  return std::tuple{drx::reduce_sum(drx::map([](auto v, auto w) { return v * w; }, a, b))};
};
constexpr auto around_a_sum = [](auto x, auto y) {  // the second map waits for a reduction of the first one's
  auto a = drx::map(twice, x);
  return drx::map([](auto v, auto total) { return v - total; }, y, drx::broadcast<clients>(drx::reduce_sum(a)));
};

template <const auto& F>
drx::tape tape_of() {
  using placed = drx::placed<numbers, clients>;
  return drx::program<F, placed, placed>::tape().thaw();
}
int count_maps(const drx::tape& t) {
  int n = 0;
  for (const drx::entry& e : t.entries) n += e.prim == &drx::prim::map;
  return n;
}
void check_same(const drx::tape& t, const drx::tape& joined) {
  std::vector<drx::tensor> in;
  double next = 0.5;
  for (int i : t.inputs) {
    in.emplace_back(t.values[i]);
    for (int m = 0; m < 4; ++m) {
      in.back().members.emplace_back(in.back().type.of_member());
      for (int k = 0; k < 3; ++k) in.back().members.back().data<double>()[k] = next += 0.25;
    }
  }
  const auto expected = drx::interpreter::run(t, in), found = drx::interpreter::run(joined, in);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].bytes == expected[i].bytes);
    REQUIRE(found[i].members.size() == expected[i].members.size());
    for (std::size_t m = 0; m < found[i].members.size(); ++m)
      CHECK(found[i].members[m].bytes == expected[i].members[m].bytes);
  }
}

}  // namespace

TEST_CASE("maps with nothing between them are one") {
  const drx::tape t = tape_of<chain>(), joined = drx::plan::map_joiner(t, &drx::placement_of<clients>).run();
  CHECK(count_maps(t) == 3);
  CHECK(count_maps(joined) == 1);
  check_same(t, joined);
}

TEST_CASE("maps with a reduction between them stay two") {
  const drx::tape t = tape_of<around_a_sum>(), joined = drx::plan::map_joiner(t, &drx::placement_of<clients>).run();
  CHECK(count_maps(joined) == 2);
  check_same(t, joined);
}
