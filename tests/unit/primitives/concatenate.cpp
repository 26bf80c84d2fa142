#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <int Axis, class... A>
concept joins = requires(const A&... a) { drx::concatenate<Axis>(a...); };
template <int Axis, class... A>
concept stacks = requires(const A&... a) { drx::stack<Axis>(a...); };
using m23 = array<int, 2, 3>;
using m43 = array<int, 4, 3>;
}  // namespace

TEST_CASE("what can be concatenated and stacked") {
  static_assert(joins<0, m23, m43> && joins<-2, m43, m23, m23> && joins<1, m23> &&
                joins<1, array<bool, 2, 0>, array<bool, 2, 9>>);
  static_assert(!joins<1, m23, m43> && !joins<2, m23, m23> && !joins<0, m23, array<float, 2, 3>> &&
                !joins<0, m23, array<int, 3>> && !joins<0, array<int>, array<int>> &&
                !joins<0, drx::placed<m23, clients>>);
  static_assert(stacks<2, m23, m23> && stacks<-3, m23> && stacks<0, array<int>, array<int>>);
  static_assert(!stacks<3, m23, m23> && !stacks<0, m23, m43> && !stacks<0, drx::placed<m23, clients>>);
}

TEST_CASE("concatenate and stack") {
  constexpr auto f = [](auto x, auto y) {
    return std::tuple{drx::concatenate(x, y), drx::stack<-1>(x, x),
                      drx::stack(drx::index<0>(x), drx::ones<array<int, 3>>())};
  };
  using P = program<f, m23, m43>;
  static_assert(std::is_same_v<P::result, std::tuple<array<int, 6, 3>, array<int, 2, 3, 2>, array<int, 2, 3>>>);
  const auto [joined, stacked, rows] =
      interpreter::call<P>(m23{0, 1, 2, 3, 4, 5}, m43{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
  for (int i = 0; i < 18; ++i) CHECK(joined[i] == i);
  CHECK(stacked(1, 2, 0) == 5);
  CHECK(stacked(1, 2, 1) == 5);
  CHECK(rows(0, 2) == 2);
  CHECK(rows(1, 2) == 1);
}

TEST_CASE("derivatives of concatenation") {
  constexpr auto f = [](auto x, auto y) {
    return drx::square(drx::concatenate<1>(x, y, x, drx::full<array<double, 2, 1>>(2))) * 3;
  };
  harness::check_program<program<f, array<double, 2, 2>, array<double, 2, 1>>>();
}
