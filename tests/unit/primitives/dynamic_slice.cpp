#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <algorithm>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using matrix = array<double, 4, 3>;
matrix counted() {
  matrix x;
  for (int i = 0; i < 12; ++i) x[i] = i;
  return x;
}
template <std::int64_t Rows, class A, class... I>
concept has_part = requires(const A& a, const I&... i) { drx::dynamic_slice<Rows>(a, i...); };
template <class A, class B, class... I>
concept has_update = requires(const A& a, const B& b, const I&... i) { drx::update_slice(a, b, i...); };
template <class A, class... I>
concept has_index = requires(const A& a, const I&... i) { drx::index(a, i...); };
using position = array<std::int32_t>;
}  // namespace

TEST_CASE("which parts there are") {
  static_assert(has_part<4, matrix, position> && has_part<0, matrix, int> && has_part<1, matrix, array<std::int64_t>>);
  static_assert(!has_part<5, matrix, position> && !has_part<-1, matrix, position> &&
                !has_part<1, matrix, position, position>);
  static_assert(!has_part<1, matrix, double> && !has_part<1, matrix, array<int, 2>> &&
                !has_part<1, array<double>, position>);
  static_assert(!has_part<1, drx::placed<matrix, clients>, position> &&
                !has_part<1, matrix, drx::placed<int, clients>>);
  static_assert(has_update<matrix, array<double, 2, 3>, position> &&
                has_update<matrix, array<double, 2, 1>, position, int>);
  static_assert(!has_update<matrix, array<double, 2, 1>, position> && !has_update<matrix, array<double, 3>, position>);
  static_assert(!has_update<matrix, array<float, 2, 3>, position> &&
                !has_update<matrix, array<double, 5, 3>, position>);
  static_assert(has_index<matrix, position> && has_index<matrix, int, position> && !has_index<matrix, int, int, int>);
  static_assert(!has_index<matrix, float> && !has_index<array<int, 0>, position> &&
                !has_index<drx::placed<matrix, clients>, position>);
}

TEST_CASE("parts and indices are moved into the array") {
  constexpr auto f = [](auto x, auto i, auto j) {
    return std::tuple{drx::dynamic_slice<2, 2>(x, i, j), drx::index(x, i), drx::index(x, i, j),
                      drx::dynamic_slice<2>(x, i)};
  };
  using P = program<f, matrix, int, std::int64_t>;
  static_assert(
      std::is_same_v<P::result, std::tuple<array<double, 2, 2>, array<double, 3>, array<double>, array<double, 2, 3>>>);
  auto at = [](std::int64_t i, std::int64_t n, std::int64_t size) {
    return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n - size);
  };
  for (int i = -6; i < 7; ++i)
    for (int j = -5; j < 6; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const auto [part, row, one, rows] = interpreter::call<P>(counted(), i, std::int64_t{j});
      for (int k = 0; k < 2; ++k) {
        for (int l = 0; l < 2; ++l) CHECK(part(k, l) == static_cast<double>((at(i, 4, 2) + k) * 3 + at(j, 3, 2) + l));
        for (int l = 0; l < 3; ++l) CHECK(rows(k, l) == static_cast<double>((at(i, 4, 2) + k) * 3 + l));
      }
      for (int l = 0; l < 3; ++l) CHECK(row(l) == static_cast<double>(at(i, 4, 1) * 3 + l));
      CHECK(one == static_cast<double>(at(i, 4, 1) * 3 + at(j, 3, 1)));
    }
}

TEST_CASE("a part replaced") {
  constexpr auto f = [](auto x, auto piece, auto i) {
    return std::tuple{drx::update_slice(x, piece, i, 1), drx::update_slice(x, drx::zeros<array<double, 4, 3>>(), i)};
  };
  const auto [y, none] = interpreter::call<program<f, matrix, array<double, 2, 2>, int>>(
      counted(), array<double, 2, 2>{50, 51, 52, 53}, 9);
  const double expected[] = {0, 1, 2, 3, 4, 5, 6, 50, 51, 9, 52, 53};
  for (int i = 0; i < 12; ++i) {
    CHECK(y[i] == expected[i]);
    CHECK(none[i] == 0);
  }
}

TEST_CASE("each is the other's transpose, and constant positions are plain slices") {
  constexpr auto f = [](auto x, auto i) { return drx::sum(drx::square(drx::dynamic_slice<2>(x, i))); };
  constexpr auto g = drx::grad(f);
  CHECK(drx::show<program<g, matrix, int>>() == R"((%0: f64[4,3], %1: i32) {
  %2: i32[1] = reshape %1
  %3: f64[2,3] = dynamic_slice[2] %0, %2
  %4: f64[2,3] = add %3, %3
  %5: f64[4,3] = constant[0]
  %6: f64[4,3] = update_slice %5, %4, %2
  return %6
}
)");
  constexpr auto fixed = [](auto x) { return drx::index(x, -1); };
  CHECK(drx::show<program<fixed, matrix>>() == R"((%0: f64[4,3]) {
  %1: f64[1,3] = slice[3:4, 0:3] %0
  %2: f64[3] = reshape %1
  return %2
}
)");
}
