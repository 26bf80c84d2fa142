#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A, int Axis>
concept sorts = requires(const A& a) {
  drx::sort<Axis>(a);
  drx::argsort<Axis>(a);
};
}  // namespace

TEST_CASE("sort and argsort: stable, NaNs last") {
  static_assert(sorts<array<int, 2>, 0> && sorts<array<bool, 2, 2>, -2> && sorts<array<float, 0>, 0>);
  static_assert(!sorts<array<int, 2>, 1> && !sorts<array<int>, 0> && !sorts<drx::placed<array<int, 2>, clients>, 0>);
  constexpr auto f = [](auto x) {
    return std::tuple{drx::sort(x), drx::argsort(x), drx::sort<0>(x), drx::argsort<0>(x)};
  };
  using P = program<f, array<float, 2, 5>>;
  static_assert(std::is_same_v<P::result,
                               std::tuple<array<float, 2, 5>, array<int, 2, 5>, array<float, 2, 5>, array<int, 2, 5>>>);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto [rows, row_order, columns, column_order] =
      interpreter::call<P>(array<float, 2, 5>{nan, 2.f, inf, 2.f, -1.f, 0.f, nan, nan, -0.f, -inf});
  const int expected[] = {4, 1, 3, 2, 0, 4, 0, 3, 1, 2};
  const int expected_down[] = {1, 0, 0, 1, 1, 0, 1, 1, 0, 0};
  for (int i = 0; i < 10; ++i) {
    CHECK(row_order[i] == expected[i]);
    CHECK(column_order[i] == expected_down[i]);
  }
  CHECK(rows(0, 3) == inf);
  CHECK(std::isnan(rows(0, 4)));
  CHECK(std::signbit(rows(1, 2)));
  CHECK(columns(0, 4) == -inf);
  CHECK(std::isnan(columns(1, 2)));
}

TEST_CASE("the gradient goes with the elements") {
  constexpr auto f = [](auto x, auto w) { return drx::sum(drx::sort(x) * w); };
  constexpr auto g = drx::grad(f);
  using v4 = array<double, 4>;
  const auto slope = interpreter::call<program<g, v4, v4>>(v4{3., 1., 2., 1.}, v4{10., 20., 30., 40.});
  const double expected[] = {40, 10, 30, 20};
  for (int i = 0; i < 4; ++i) CHECK(slope[i] == expected[i]);
}
