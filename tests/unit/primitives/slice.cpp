#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::all;
using drx::array;
using drx::program;
using drx::range;

namespace {
struct clients : drx::placement<clients> {};
using matrix = array<double, 4, 3>;
matrix counted() {
  matrix x;
  for (int i = 0; i < 12; ++i) x[i] = i;
  return x;
}
template <class A>
concept up_to_5 = requires(const A& a) { drx::slice<2, 5>(a); };
template <class A>
concept two_axes = requires(const A& a) { drx::slice<all, range<1, 3>>(a); };
template <class A, std::int64_t I>
concept has_index = requires(const A& a) { drx::index<I>(a); };
}  // namespace

TEST_CASE("which slices there are") {
  static_assert(up_to_5<array<int, 5>> && up_to_5<array<bool, 6, 2>>);
  static_assert(!up_to_5<array<int, 4>> && !up_to_5<array<int>> && !up_to_5<drx::placed<array<int, 5>, clients>>);
  static_assert(two_axes<matrix> && !two_axes<array<double, 4>> && !two_axes<array<double, 4, 2>>);
  static_assert(has_index<matrix, 3> && has_index<matrix, -4> && !has_index<matrix, 4> && !has_index<matrix, -5>);
}

TEST_CASE("slice and index") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::slice<range<-3, -1>>(x), drx::slice<all, range<0, 3, 2>>(x),
                      drx::slice<0, 4, 3>(x),       drx::index<-1>(x),
                      drx::index<1, 2>(x),          drx::slice<1, 1>(x)};
  };
  using P = program<f, matrix>;
  static_assert(std::is_same_v<P::result, std::tuple<array<double, 2, 3>, array<double, 4, 2>, array<double, 2, 3>,
                                                     array<double, 3>, array<double>, array<double, 0, 3>>>);
  const auto [rows, columns, ends, last, one, none] = interpreter::call<P>(counted());
  CHECK(rows(0, 0) == 3);
  CHECK(rows(1, 2) == 8);
  CHECK(columns(2, 1) == 8);
  CHECK(ends(1, 0) == 9);
  CHECK(last(0) == 9);
  CHECK(one == 5);
}

TEST_CASE("a slice's derivative is a padding") {
  constexpr auto f = [](auto x) { return drx::sum(drx::square(drx::slice<range<1, 4, 2>, range<1, 3>>(x))); };
  constexpr auto g = drx::grad(f);
  CHECK(drx::show<program<g, matrix>>() == R"((%0: f64[4,3]) {
  %1: f64[2,2] = slice[1:4:2, 1:3] %0
  %2: f64[2,2] = add %1, %1
  %3: f64[4,3] = pad[1+0 every 2, 1+0] %2
  return %3
}
)");
  harness::check_program<program<f, matrix>>();
  constexpr auto whole = [](auto x) { return drx::slice<all, range<0, 3>>(x); };
  CHECK(drx::show<program<whole, array<int, 2, 3>>>() == "(%0: i32[2,3]) {\n  return %0\n}\n");
}
