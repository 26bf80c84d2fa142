// ranks: 1 2 3 5
// What drx::cost says of a program is what is counted when it runs. (Those of the examples: tests/mpi/costs/.)
#include <drx/drx.hpp>

#include "harness/counted_calls.hpp"

namespace {
struct rows : drx::placement<rows> {};
using weights = drx::array<double, 3>;
using data = drx::placed<weights, rows>;
constexpr auto round_of = [](auto w, auto x) {
  return drx::reduce_mean(drx::map([](auto v, auto row) { return drx::tanh(v * row); }, drx::broadcast<rows>(w), x));
};
constexpr auto rounds = [](auto w, auto x) { return drx::fori_loop<5>(w, [=](auto v) { return round_of(v, x); }); };
constexpr auto slope = [](auto w, auto x) {
  return drx::grad([](auto v, auto r) { return drx::sum(round_of(v, r)); })(w, x);
};
constexpr auto kept = [](auto w, auto x) {
  auto y = drx::map([](auto v, auto row) { return v * row; }, drx::broadcast<rows>(w), x);
  return std::pair{y, drx::reduce_max(y)};
};
constexpr auto total = [](auto x) { return drx::reduce_sum(x); };
constexpr drx::monoid product{[](auto a, auto b) { return a * b; }, 1};
constexpr auto multiplied = [](auto x) { return std::pair{drx::reduce_sum(x), drx::reduce_with(product, x)}; };
constexpr auto gathered = [](auto x) { return std::pair{drx::gather<6>(x), drx::reduce_sum(x)}; };
template <class T, int N>
using members = drx::placed<drx::array<T, N>, rows>;
}  // namespace

TEST_CASE("a call takes part in the collectives that its cost says, and sends the bytes") {
  harness::compare_cost<drx::program<round_of, weights, data>>();
  harness::compare_cost<drx::program<rounds, weights, data>>();
  harness::compare_cost<drx::program<slope, weights, data>>();
  harness::compare_cost<drx::program<kept, weights, data>>();
}
TEST_CASE("large nodes go in pieces, or up a tree of ranks") {
  harness::compare_cost<drx::program<total, members<float, 3>>>();      // with room after the result
  harness::compare_cost<drx::program<total, members<double, 8191>>>();  // two nodes have less than 128 KiB
  harness::compare_cost<drx::program<total, members<double, 8192>>>();  // and here as many
  harness::compare_cost<drx::program<total, members<float, 50001>>>();
  harness::compare_cost<drx::program<multiplied, members<float, 9>>>();  // a monoid's nodes are not cut
  harness::compare_cost<drx::program<multiplied, members<float, 20000>>>();
}
TEST_CASE("what depends on how many subtrees the ranks have says so") {
  using P = drx::program<total, members<double, 1100>>;  // 15 nodes or more are many bytes
  constexpr auto cost = drx::cost<P>();
  drx::session& s = harness::session();
  const int ranks = s.ranks();
  auto program = s.compile<P>();
  const auto x = s.place<rows>(ranks * 11, harness::some_value<drx::array<double, 1100>>);
  std::int64_t subtrees = 0;  // the largest of ranges of 11 members
  for (std::int64_t r = 0; r < ranks; ++r) subtrees += drx::run::node_list::count_of_range(11 * r, 11 * r + 11);
  const harness::counted n = harness::count_messages([&] { (void)program(x); });
  CHECK(n.collectives == *cost.collectives(ranks, subtrees));
  if (ranks == 5) CHECK(*cost.collectives(ranks, subtrees) == 2);
  if (ranks == 5) CHECK(*cost.collectives(ranks) == 1);
}
TEST_CASE("gathered members are counted, whatever rank has them") {
  using P = drx::program<gathered, members<double, 4>>;
  constexpr auto cost = drx::cost<P>();
  drx::session& s = harness::session();
  auto program = s.compile<P>();
  const auto x = s.place<rows>(6, [](std::int64_t) { return drx::array<double, 4>{1, 2, 3, 4}; });
  const harness::counted n = harness::count_messages([&] { (void)program(x); });
  CHECK(n.collectives == *cost.collectives(s.ranks()));
  CHECK(n.collectives == (s.ranks() > 1 ? 2 : 0));
  CHECK(n.bytes >= (s.ranks() > 1 ? 6 * 32 + s.ranks() * 32 : 0));
  if (s.ranks() == 3) CHECK(n.bytes == *cost.bytes_sent(3));  // each rank has two members, and their one subtree
}
