// Loops over short rows: several rows are one loop, whatever is broadcast along rows or columns.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
constexpr auto combined = [](auto x, auto column, auto row, auto one) {
  const auto i = drx::iota<decltype(x), 0>();
  return std::tuple{drx::tanh(x * row + column) * one, x - column, drx::exp(row - x) + i * x};
};
/// With positions along each axis, and rearrangements.
constexpr auto along_each = [](auto x, auto column) {
  using all = decltype(x);
  const auto moved =
      drx::concatenate<1>(drx::slice<drx::all, drx::range<5, 14>>(x), drx::slice<drx::all, drx::range<0, 5>>(x));
  return std::tuple{x * column + drx::iota<all, 1>(), x - 2 * drx::iota<all, 0>() * drx::iota<all, 2>(),
                    moved * column + x, moved + drx::iota<all, 1>() * drx::iota<all, 0>(),
                    drx::exp(x * column) - drx::roll<3, 1>(x)};
};
template <std::int64_t... E>
using x_t = array<double, E...>;
}  // namespace

TEST_CASE("rows of one element, of few, and of a number of them that is no whole pack") {
  harness::check_run<program<combined, x_t<7, 5, 1>, x_t<7, 1, 1>, x_t<5, 1>, x_t<1>>>();
  harness::check_run<program<combined, x_t<600, 1>, x_t<600, 1>, x_t<1>, x_t<1>>>();
  harness::check_run<program<combined, x_t<9, 3>, x_t<9, 1>, x_t<3>, x_t<1>>>();
  harness::check_run<program<combined, x_t<3, 40, 17>, x_t<3, 1, 1>, x_t<40, 1>, x_t<17>>>();
  harness::check_run<program<combined, x_t<2, 1, 5>, x_t<1, 1, 1>, x_t<2, 1, 1>, x_t<5>>>();
}

TEST_CASE("axes of one number behind the rows") {
  harness::check_run<program<combined, x_t<7, 16, 1>, x_t<7, 1, 1>, x_t<16, 1>, x_t<1>>>();
  harness::check_run<program<combined, x_t<3, 700, 1, 1>, x_t<3, 1, 1, 1>, x_t<700, 1, 1>, x_t<1>>>();
  harness::check_run<program<combined, x_t<1, 1>, x_t<1, 1>, x_t<1>, x_t<1>>>();
  harness::check_run<program<along_each, x_t<6, 14, 1>, x_t<6, 1, 1>>>();
}
