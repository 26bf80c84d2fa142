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
  return std::tuple{sum * x,
                    drx::pmean<devices>(x) + drx::pmax<devices>(x) * drx::pmin<devices>(x),
                    everybody,
                    drx::ppermute<devices>(x, std::array{4, 0, 1, 2, -1}),
                    drx::all_to_all<devices>(everybody * x),
                    drx::psum_scatter<devices>(everybody),
                    drx::pprod<devices, 5>(x),
                    drx::psum<devices>(drx::sin(sum) * x)};
};
constexpr auto values = [](auto x) { return drx::pmap<devices>(member)(x); };
constexpr auto loss = [](auto x) {
  return std::apply([](auto... part) { return (drx::sum(drx::sin(part)) + ...); }, values(x));
};
constexpr auto slope = drx::grad(loss);
/// Around a ring: each member's value goes to its neighbour, and nowhere else.
constexpr auto shifted = [](auto x) {
  return drx::map([](auto v) { return drx::ppermute<devices>(v, std::array{4, 0, 1, 2, 3}); }, x);
};
using Shifted = program<shifted, drx::placed<array<double, 3>, devices>>;
using Values = program<values, array<double, 5, 3>>;
using Slope = program<slope, array<double, 5, 3>>;
}  // namespace

TEST_CASE_TEMPLATE("an axis of five on any number of ranks", P, Values, Slope) {
  auto& s = harness::session();
  const auto in = harness::random_inputs<P>({});
  const auto one = harness::run_serial<P>(in);
  harness::check_near(one, harness::run_plain<P>(in));
  drx::compiled<P> run(s.executor(), s.communicator());
  CHECK(harness::same_bits(harness::call(run, s.communicator(), in), one));
}
TEST_CASE("a shift around a ring sends one value from rank to rank") {
  auto& c = harness::session().communicator();
  drx::compiled<Shifted> run(harness::session().executor(), c);
  const auto in = harness::random_inputs<Shifted>({});
  const auto before = c.bytes_sent();
  const auto out = harness::call(run, c, in);
  const auto blocks = drx::even_blocks(5, c.size());
  const auto r = static_cast<std::size_t>(c.rank());
  CHECK(c.bytes_sent() - before == (c.size() > 1 && blocks[r] < blocks[r + 1] ? 24 : 0));
  CHECK(harness::same_bits(out, harness::own_block(harness::run_plain<Shifted>(in), blocks, c.rank())));
}
