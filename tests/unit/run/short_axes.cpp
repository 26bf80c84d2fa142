// Arrays whose short last axis lies before the one in front of it.
#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

#include "harness/run.hpp"

namespace {
using drx::array;

/// Whether the pass of this name changes the program's plan.
template <class P>
bool changed() {
  return drx::plan::show<P, "short axes">() != drx::plan::show<P, "rearrangements">();
}

// Forces between points, by a gradient: sums over the coordinates, and over either point of a pair.
constexpr auto energy = [](auto x) {
  auto apart = drx::reshape<20, 1, 3>(x) - x;
  return drx::sum(drx::rsqrt(drx::sum<2>(drx::square(apart)) + 0.1));
};
constexpr auto forces = [](auto x) { return drx::value_and_grad(energy)(x); };
using Forces = drx::program<forces, array<double, 20, 3>>;
// In members that are computed one by one, and in blocks; in loops.
struct systems : drx::placement<systems> {};
constexpr auto moved = [](auto x) {
  return drx::fori_loop<3>(x, [](auto y) { return y - 0.01 * drx::grad(energy)(y); });
};
constexpr auto moved_systems = [](auto x) { return drx::reduce_mean(drx::map(moved, x)); };
using MovedSystems = drx::program<moved_systems, drx::placed<array<double, 20, 3>, systems>>;
using Curved =
    drx::program<drx::grad([](auto x) { return drx::sum(drx::square(drx::grad(energy)(x))); }), array<double, 20, 3>>;

// Each kind of operand: of rank 0 to 4, with one number along either axis; positions along each axis.
constexpr auto broadcasts = [](auto z, auto a, auto b, auto c, auto d, auto e) {
  auto x = d * drx::reshape<2, 1, 16, 5>(e);  // [2, 3, 16, 5]
  auto y = (x + z) * a + b * drx::reshape<16, 1>(c);
  auto p = x + drx::cast<double>(drx::iota<array<std::int32_t, 2, 3, 16, 5>, 3>() -
                                 drx::iota<array<std::int32_t, 2, 3, 16, 5>, 2>() *
                                     drx::iota<array<std::int32_t, 2, 3, 16, 5>, 0>());
  return std::tuple{drx::sum<3>(y),    drx::sum<2>(y),     drx::max<3>(drx::where(x > 0.2, y, p)),
                    drx::sum<0, 3>(p), drx::min<1>(p * y), drx::sum<2, 3>(x * p)};
};
using Broadcasts = drx::program<broadcasts, double, array<double, 5>, array<double, 1, 5>, array<double, 16>,
                                array<double, 2, 3, 16, 1>, array<double, 2, 16, 5>>;
// Reshaped in front of the two axes.
constexpr auto pairs = [](auto x) {
  auto y = drx::exp(drx::reshape<2, 16, 1, 4>(x) - drx::reshape<2, 1, 16, 4>(x));
  auto z = drx::reshape<32, 16, 4>(y) * 2.0;
  return std::tuple{drx::sum<2>(z), drx::max<0>(z), drx::sum<3>(y)};
};
using Pairs = drx::program<pairs, array<double, 2, 16, 4>>;

// One product with a whole array: nothing is to be gained.
constexpr auto scaled = [](auto x, auto y) { return x * y - x; };
using Scaled = drx::program<scaled, array<double, 4, 32, 3>, array<double, 4, 32, 3>>;
// Operands that would be transposed are as large as what is spared.
constexpr auto summed = [](auto x) { return drx::sum<2>(x); };
using Summed = drx::program<summed, array<double, 4, 32, 3>>;
}  // namespace

TEST_CASE("values of pairs lie with the longer axis last") {
  CHECK(changed<Forces>());
  CHECK(changed<MovedSystems>());
  CHECK(changed<Curved>());
  CHECK(changed<Broadcasts>());
  CHECK(changed<Pairs>());
  CHECK_FALSE(changed<Scaled>());
  CHECK_FALSE(changed<Summed>());
  CHECK(drx::plan::show<Forces, "short axes">().find("f64[20,3,20]") != std::string::npos);
  CHECK(drx::plan::show<Forces, "short axes">().find("f64[20,20,3]") == std::string::npos);
}
TEST_CASE("what lies so is computed as the interpreter does") {
  harness::check_run<Forces>({}, {1});
  harness::check_run<MovedSystems>({}, {1, 5, 270});
  harness::check_run<Curved>({}, {1});
  harness::check_run<Broadcasts>({}, {1});
  harness::check_run<Pairs>({}, {1});
  harness::check_run<Scaled>({}, {1});
  harness::check_run<Summed>({}, {1});
}
