// Sums, extrema and running sums along rows of every length, which run in packs: several rows side by side, or one row
// in several chains. What is no number stays none.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <limits>

namespace {
using drx::array;

constexpr auto folded = [](auto x) {
  auto holes = drx::where(drx::sin(40 * x) > 0.9, x / (x - x), x);  // some infinities of either sign
  auto gaps = drx::where(drx::sin(90 * x) > 0.99, (x - x) / (x - x), holes);
  return std::tuple{drx::sum<1>(x), drx::max<1>(gaps), drx::min<1>(gaps),
                    drx::max<1>(x), drx::min<1>(x),    drx::sum<1>(gaps)};
};
constexpr auto walked = [](auto x) {
  return std::tuple{drx::cumsum<1>(x), drx::cumsum<1, drx::direction::backward>(x), drx::cumprod<1>(1 + x / 8),
                    drx::cumprod<1, drx::direction::backward>(1 + x / 8)};
};
/// Its derivative is a recurrence.
constexpr auto slope = [](auto x) {
  return drx::grad([](auto v) { return drx::sum(drx::cumprod<1>(1 + v / 8) * v); })(x);
};

template <class T, int Rows, int... N>
void check_rows() {
  CAPTURE(Rows);
  const harness::sample s{.low = -1, .high = 1};
  const auto check = [&](auto n) {
    using X = array<T, Rows, n()>;
    CAPTURE(n());
    harness::check_run<drx::program<folded, X>>(s, {1});
    harness::check_run<drx::program<walked, X>>(s, {1});
    harness::check_run<drx::program<slope, X>>(s, {1});
  };
  (check(std::integral_constant<int, N>{}), ...);
}
}  // namespace

TEST_CASE("rows of floats") {
  check_rows<float, 1, 15, 16, 70>();
  check_rows<float, 16, 8, 16, 33>();
  check_rows<float, 37, 17, 31, 127>();
  check_rows<float, 33, 128, 300>();
}
TEST_CASE("rows of doubles") {
  check_rows<double, 1, 9, 150>();
  check_rows<double, 8, 8, 17>();
  check_rows<double, 21, 15, 64, 129>();
}
TEST_CASE("long rows") { check_rows<float, 3, 2500>(); }
