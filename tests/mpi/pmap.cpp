// ranks: 1 2 3 5
// threads: 2
// pmap and all collectives on any number of ranks: the same bits as on one, whatever the length of the axis.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
struct devices : drx::placement<devices> {};

constexpr auto member = [](auto x) {
  const auto sum = drx::psum<devices>(x);
  const auto i = drx::cast<double>(drx::axis_index<devices>(x));
  const auto everybody = drx::all_gather<devices, 5>(x * i);
  return std::tuple{sum * x, drx::pmean<devices>(x) + drx::pmax<devices>(x) * drx::pmin<devices>(x), everybody,
                    drx::ppermute<devices>(x, std::array{4, 0, 1, 2, -1}), drx::all_to_all<devices>(everybody * x),
                    drx::psum_scatter<devices>(everybody), drx::pprod<devices, 5>(x), drx::psum<devices>(drx::sin(sum) * x)};
};
constexpr auto values = [](auto x) { return drx::pmap<devices>(member)(x); };
constexpr auto loss = [](auto x) {
  return std::apply([](auto... part) { return (drx::sum(drx::sin(part)) + ...); }, values(x));
};
constexpr auto slope = drx::grad(loss);
using Values = program<values, array<double, 5, 3>>;
using Slope = program<slope, array<double, 5, 3>>;
}  // namespace

TEST_CASE_TEMPLATE("an axis of five on any number of ranks", P, Values, Slope) {
  auto& s = drx_test::session();
  const auto in = harness::random_inputs<P>({});
  const auto one = harness::run_serial<P>(in);
  harness::check_near(one, harness::run_plain<P>(in));
  drx::compiled<P> run(s.executor(), s.communicator());
  CHECK(harness::same_bits(harness::call(run, s.communicator(), in), one));
}
