// Positions of the largest and smallest elements: of long and short rows, of columns side by side, of members in lanes;
// with equal elements and with NaNs.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
struct rows : drx::placement<rows> {};

/// Positions along an axis of x, of x with many equal elements, and of x with some that are no numbers.
template <int Axis>
constexpr auto positions = [](auto x) {
  auto equal = drx::floor(2 * x);
  auto some = drx::where(x > 0.7, drx::sqrt(-1 - drx::abs(x)), x);
  auto none = drx::where(x == x, drx::sqrt(-1 - drx::abs(x)), x);
  return std::tuple{drx::argmax<Axis>(x),     drx::argmin<Axis>(x),
                    drx::argmax<Axis>(equal), drx::argmin<Axis>(equal),
                    drx::argmax<Axis>(some),  drx::argmin<Axis>(some),
                    drx::argmax<Axis>(none),  drx::argmax<Axis>(drx::cast<std::int32_t>(3 * x))};
};
template <int Axis, class A>
void check() {
  harness::check_run<drx::program<positions<Axis>, A>>();
}
template <class T>
void check_shapes() {
  check<0, drx::array<T, 1>>();
  check<0, drx::array<T, 10>>();
  check<0, drx::array<T, 31>>();
  check<0, drx::array<T, 32>>();
  check<0, drx::array<T, 1003>>();
  check<1, drx::array<T, 3, 7>>();
  check<-1, drx::array<T, 5, 70>>();
  check<0, drx::array<T, 7, 2>>();
  check<0, drx::array<T, 9, 64>>();
  check<1, drx::array<T, 2, 5, 133>>();
}
constexpr auto of_members = [](auto data) {
  return std::pair{drx::map(positions<0>, data),
                   drx::reduce_sum(drx::map([](auto x) { return drx::argmax(x); }, data))};
};
/// The row with the largest sum is taken, and has the derivative.
constexpr auto best_row = [](auto w, auto data) {
  auto best = [](auto v, auto x) { return drx::sum(drx::square(drx::index(x, drx::argmax(drx::matmul(x, v))) * v)); };
  return drx::value_and_grad([=](auto v) { return drx::reduce_mean(drx::map(best, drx::broadcast<rows>(v), data)); })(
      w);
};
}  // namespace

TEST_CASE("positions in arrays of float") { check_shapes<float>(); }
TEST_CASE("positions in arrays of double") { check_shapes<double>(); }
TEST_CASE("positions in many members") {
  harness::check_run<drx::program<of_members, drx::placed<drx::array<float, 10>, rows>>>({}, {1, 64, 300});
  harness::check_run<drx::program<of_members, drx::placed<drx::array<double, 5>, rows>>>({}, {1, 64, 300});
}
TEST_CASE("the derivative of a row that is chosen") {
  harness::check_run<drx::program<best_row, drx::array<double, 3>, drx::placed<drx::array<double, 6, 3>, rows>>>(
      {}, {1, 64, 300});
}
