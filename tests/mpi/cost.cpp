// ranks: 1 2 3
// What drx::cost says of a program is what is counted when it runs.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>
#include <drx/engines/cost.hpp>

#include "harness/ranks.hpp"

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

/// The collectives and the bytes that a call takes, beside those by which it compares the ranks' inputs.
template <class P>
void check() {
  constexpr auto cost = drx::cost<P>();
  drx::session& s = harness::session();
  const int ranks = s.ranks();
  // As many members as ranks: each sends one node.
  const auto placed = s.place<rows>(ranks, [](std::int64_t i) {
    const auto x = static_cast<double>(i);
    return weights{x, 0.5 * x, 1};
  });
  auto program = s.compile<P>();
  constexpr int calls = 2;  // the first two compare the arguments too, in the same message
  auto& c = s.communicator();
  const std::int64_t collectives = c.collectives(), sent = c.bytes_sent();
  for (int i = 0; i < calls; ++i) (void)program(weights{1, 2, 3}, placed);
  CHECK(c.collectives() - collectives == calls * *cost.collectives(ranks));
  const std::int64_t nodes = ranks > 1 ? calls * *cost.bytes_up() : 0;
  CHECK(c.bytes_sent() - sent >= nodes);
  CHECK(c.bytes_sent() - sent <= nodes * (ranks > 1 ? ranks - 1 : 1) + calls * 64);
}
}  // namespace

TEST_CASE("a call takes part in the collectives that its cost says, and sends the bytes") {
  check<drx::program<round_of, weights, data>>();
  check<drx::program<rounds, weights, data>>();
  check<drx::program<slope, weights, data>>();
}
