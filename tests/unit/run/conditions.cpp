// Fused loops that read conditions from memory and store them, in rows of few and of many elements.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {

template <class T, int... E>
using array = drx::array<T, E...>;

// Conditions whole, along rows and along columns; comparisons with NaN; results that are conditions.
constexpr auto chosen = [](auto x, auto c, auto row, auto column) {
  using T = typename decltype(x)::value_type;
  const auto broken = drx::is_floating(drx::dtype_of<T>) ? x / (x - x) : x;  // (all NaN, or for integers x)
  const auto below = x < 1, same = broken == broken;
  const auto y = drx::where(c, x, 2 * x) + drx::where(row, x, -x) * drx::where(column && c, x, 1 - x);
  return std::tuple{y, drx::where(same, y, x), below && c, !below || row, drx::cast<T>(c) + y, drx::where(c, y, -y)};
};
template <class T, int Columns>
using Chosen =
    drx::program<chosen, array<T, 3, Columns>, array<bool, 3, Columns>, array<bool, Columns>, array<bool, 3, 1>>;

// Neighbours, which are read where they lie: segments of rows.
constexpr auto beside = [](auto x, auto c) {
  const auto edge = drx::pad<drx::padding<1>, drx::padding<0>>(x);
  const auto open = drx::concatenate<0>(c, c);
  using drx::all, drx::range, drx::slice;
  const auto up = drx::where(c, x, slice<range<0, 6>, all>(edge));
  const auto down = drx::where(c, x, slice<range<2, 8>, all>(edge));
  return std::tuple{drx::where(slice<range<3, 9>, all>(open), up, down), up - down, (up < down) || c};
};
template <class T, int Columns>
using Beside = drx::program<beside, array<T, 6, Columns>, array<bool, 6, Columns>>;

// In loops in halves, and in loops that are fast in a range only.
constexpr auto functions = [](auto x, auto c, auto row) {
  const auto y = drx::tanh(drx::where(c, x, 2 * x)), z = drx::sin(drx::where(c && row, y, 1000 * x));
  return std::tuple{drx::where(c, y, z), z < y, drx::where(row, z, x)};
};
template <class T, int Columns>
using Functions = drx::program<functions, array<T, 3, Columns>, array<bool, 3, Columns>, array<bool, Columns>>;

// A result where a condition was, and derivatives of functions that choose.
constexpr auto carried = [](auto x, auto c) {
  return drx::fori_loop<3>(std::pair{x, c}, [](auto at) {
    const auto [y, d] = at;
    return std::pair{drx::where(d, y * 0.5, y + 0.25), !d || y < 0};
  });
};
constexpr auto slopes = [](auto x, auto c) {
  return drx::grad([=](auto y) {
    const auto kept = drx::where(c, y, drx::relu(y));
    return drx::sum(drx::max<0>(kept * y) + drx::sum<0>(drx::abs(y) + drx::min(y, kept) + drx::clamp(y, -0.5, 0.5)));
  })(x);
};
template <class T, int Columns>
using Carried = drx::program<carried, array<T, 4, Columns>, array<bool, 4, Columns>>;
template <class T, int Columns>
using Slopes = drx::program<slopes, array<T, 4, Columns>, array<bool, 4, Columns>>;

template <template <class, int> class P, class T>
void check_lengths() {
  harness::check_run<P<T, 5>>({.low = -2, .high = 2}, {1});
  harness::check_run<P<T, 8>>({.low = -2, .high = 2}, {1});
  harness::check_run<P<T, 47>>({.low = -2, .high = 2}, {1});
  harness::check_run<P<T, 120>>({.low = -2, .high = 2}, {1});
  harness::check_run<P<T, 600>>({.low = -2, .high = 2}, {1});
}

}  // namespace

TEST_CASE_TEMPLATE("conditions in memory choose numbers of any width", T, float, double, std::int64_t) {
  check_lengths<Chosen, T>();
}
TEST_CASE_TEMPLATE("conditions choose between neighbours", T, float, double) { check_lengths<Beside, T>(); }
TEST_CASE_TEMPLATE("conditions beside long functions", T, float, double) { check_lengths<Functions, T>(); }
TEST_CASE("conditions where conditions were") { check_lengths<Carried, float>(); }
TEST_CASE_TEMPLATE("derivatives of functions that choose", T, float, double) { check_lengths<Slopes, T>(); }
