// Extrema over rows of few and of many columns: with NaNs, which win, with infinities of both signs, and with zeros of
// both signs.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
/// Extrema along axis 0 of x, of x with some NaNs, of x with some infinities, and of zeros.
constexpr auto extrema = [](auto x) {
  auto some = drx::where(x > 0.7f, drx::sqrt(-1 - drx::abs(x)), x);
  auto infinite = drx::where(drx::abs(x) > 0.7f, x / (x - x), x);
  auto zeros = 0 * x;
  return std::tuple{drx::max<0>(x),     drx::min<0>(x),           drx::max<0>(some),
                    drx::min<0>(some),  drx::max<0>(infinite),    drx::min<0>(infinite),
                    drx::max<0>(zeros), drx::argmax<0>(infinite), drx::sum<0>(infinite)};
};
template <class T, std::int64_t Rows, std::int64_t Columns>
void check() {
  harness::check_run<drx::program<extrema, drx::array<T, Rows, Columns>>>();
}
}  // namespace

TEST_CASE("extrema over few rows") {
  check<float, 3, 8>();
  check<float, 3, 75>();
  check<double, 2, 21>();
}
TEST_CASE("extrema over rows from which on numbers go first") {
  check<float, 4, 16>();
  check<float, 9, 91>();
  check<double, 8, 44>();
}
TEST_CASE("extrema over rows of more columns than registers hold") { check<float, 5, 300>(); }
