// Sums over rows of what a loop makes or reads, which are added up in that loop.
#include <drx/drx.hpp>

#include <limits>

#include "harness/run.hpp"

namespace {
using drx::array;

/// How many sums are parts of loops.
template <class P>
constexpr int sums = [] {
  int n = 0;
  for (const auto& s : drx::run::code_of<P>::plan.steps) n += s.sums;
  return n;
}();

// A network's gradient: the bias's and the last layer's are such sums, of what the loop makes and of what it reads.
constexpr auto loss = [](auto w, auto b, auto x, auto v) {
  return drx::sum(drx::exp(drx::matmul(drx::tanh(drx::matmul(x, w) + b), v)));
};
constexpr auto gradient = [](auto w, auto b, auto x, auto v) { return drx::grad<0, 1, 3>(loss)(w, b, x, v); };
using Gradient =
    drx::program<gradient, array<double, 5, 32>, array<double, 32>, array<double, 19, 5>, array<double, 32>>;
using Floats = drx::program<gradient, array<float, 3, 16>, array<float, 16>, array<float, 300, 3>, array<float, 16>>;

// Of inputs; of what nothing else reads; of what leaves the program; more columns than are added up at once.
constexpr auto several = [](auto x, auto y, auto w) {
  auto z = x * y - x, u = z * y;
  return std::tuple{drx::sum<0>(x), drx::sum<0>(u), z, drx::sum<0>(z), drx::matmul(drx::transpose(z), w)};
};
using Several = drx::program<several, array<double, 11, 528>, array<double, 528>, array<double, 11>>;

// A sum that its own loop would need, and weights that come later, stay where they are.
constexpr auto in_turn = [](auto x, auto y) {
  auto z = x * y + x;
  auto centered = z - drx::sum<0>(z);
  auto weights = drx::sum<1>(centered);
  return std::tuple{drx::matmul(drx::transpose(centered), weights), centered * drx::sum<0>(centered)};
};
using InTurn = drx::program<in_turn, array<float, 16, 16>, array<float, 16, 16>>;

// A sum does not move into the loop, or behind it, in which another sum is weighted by it.
constexpr auto weights_of_loop = [](auto x, auto y) {
  auto c = drx::sum<0>(x);
  auto z = x * y - x;
  return std::pair{z, drx::matmul(drx::transpose(z), c)};
};
using WeightsOfLoop = drx::program<weights_of_loop, array<float, 16, 16>, array<float, 16, 16>>;
constexpr auto weights_of_later_loop = [](auto x, auto y, auto u, auto v) {
  auto c = drx::sum<0>(u);
  auto z = x * y - x;
  auto q = u * v;
  return std::tuple{z, q, drx::matmul(drx::transpose(z), c)};
};
using WeightsOfLaterLoop = drx::program<weights_of_later_loop, array<float, 16, 32>, array<float, 16, 32>,
                                        array<float, 8, 16>, array<float, 8, 16>>;

// In a loop over slices; of members, whose blocks are rows too.
constexpr auto of_slices = [](auto x, auto start, auto w) {
  return drx::scan(
      [=](auto c, auto slice) {
        auto z = slice * c - slice;
        return std::pair{c + 0.1 * drx::matmul(drx::transpose(slice), w),
                         std::tuple{z, drx::matmul(drx::transpose(z), drx::sum<0>(slice)), drx::sum<0>(z)}};
      },
      start, x);
};
using OfSlices = drx::program<of_slices, array<double, 5, 16, 16>, array<double, 16>, array<double, 16>>;
struct clients : drx::placement<clients> {};
constexpr auto of_members = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    auto c = drx::sum<0>(x);
    auto z = x * v - x;
    return std::tuple{c, drx::matmul(drx::transpose(z), c), drx::sum<0>(z * z)};
  };
  return drx::reduce_mean(drx::map(of_member, drx::broadcast<clients>(w), data));
};
using OfMembers = drx::program<of_members, array<double, 16>, drx::placed<array<double, 16, 16>, clients>>;
}  // namespace

TEST_CASE("sums over rows are added up in the loops of what is summed") {
  static_assert(sums<Gradient> == 2 && sums<Floats> == 2);
  harness::check_run<Gradient>({}, {1});
  harness::check_run<Floats>({}, {1});
}
TEST_CASE("a zero weight stops an infinite slope, in packs too") {
  array<double, 32> bias = drx::full<array<double, 32>>(30), weights{};
  weights(0) = 1e3;  // tanh(30) 1e3 is more than exp can take
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<Gradient> gradient_of(e, c);
  const auto [of_w, of_bias, of_v] = gradient_of(array<double, 5, 32>{}, bias, array<double, 19, 5>{}, weights);
  for (int i = 1; i < 32; ++i) CHECK(of_bias(i) == 0);
  CHECK(of_v(1) == std::numeric_limits<double>::infinity());
}
TEST_CASE("of inputs, of what is needed elsewhere, of many columns") {
  static_assert(sums<Several> >= 3);
  harness::check_run<Several>({}, {1});
}
TEST_CASE("what a loop cannot add up in time is a step of its own") {
  harness::check_run<InTurn>({}, {1});
  static_assert(sums<WeightsOfLoop> == 1 && sums<WeightsOfLaterLoop> == 1);
  harness::check_run<WeightsOfLoop>({}, {1});
  harness::check_run<WeightsOfLaterLoop>({}, {1});
}
TEST_CASE("in loops over slices and in members") {
  static_assert(sums<OfSlices> > 0 && sums<OfMembers> > 0);
  harness::check_run<OfSlices>({}, {1});
  harness::check_run<OfMembers>();
}
