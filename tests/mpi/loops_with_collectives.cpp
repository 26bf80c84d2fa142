// ranks: 1 2 3 5
// Loops around messages, whose stacks lie with the members: the same bits on any number of ranks, forwards and
// backwards.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct parts : drx::placement<parts> {};
using row = array<double, 4>;
using rows = array<double, 3, 2, 4>;

/// Diffusion along a ring of five parts, which exchange their ends; two steps at a time.
constexpr auto diffused = [](auto u, auto force) {
  const auto before = drx::ppermute<parts>(drx::slice<3, 4>(u), std::array{4, 0, 1, 2, 3});
  const auto behind = drx::ppermute<parts>(drx::slice<0, 1>(u), std::array{1, 2, 3, 4, 0});
  const auto padded = drx::concatenate<0>(before, u, behind);
  return u + .2 * (drx::slice<0, 4>(padded) - 2 * u + drx::slice<2, 6>(padded)) + drx::sin(u * force);
};
constexpr auto history = [](auto u, auto forces) {
  return drx::map(
      [](auto v, auto force) {
        return drx::scan(
                   [](auto w, auto two) {
                     const auto [next, states] = drx::scan(
                         [](auto x, auto one) {
                           const auto y = diffused(x, one);
                           return std::pair{y, y};
                         },
                         w, two);
                     return std::pair{next, std::pair{states, drx::psum<parts>(drx::sum(next))}};
                   },
                   v, force)
            .second;
      },
      u, forces);
};
constexpr auto slope = drx::grad<0, 1>([](auto u, auto forces) {
  return drx::reduce_sum(drx::map([](auto h) { return drx::sum(drx::sin(h.first)) + drx::sum(drx::square(h.second)); },
                                  history(u, forces)));
});
using History = program<history, placed<row, parts>, placed<rows, parts>>;
using Slope = program<slope, placed<row, parts>, placed<rows, parts>>;
}  // namespace

TEST_CASE_TEMPLATE("stacks of five members on any number of ranks", P, History, Slope) {
  auto& c = harness::session().communicator();
  const auto in = harness::random_inputs<P>({});
  const auto one = harness::run_serial<P>(in);
  harness::check_near(one, harness::run_plain<P>(in));
  drx::compiled<P> run(harness::session().executor(), c);
  const auto own = harness::own_block(one, drx::even_blocks(5, c.size()), c.rank());
  CHECK(harness::same_bits(harness::call(run, c, in), own));
  CHECK(harness::same_bits(harness::call(run, c, in), own));
}
