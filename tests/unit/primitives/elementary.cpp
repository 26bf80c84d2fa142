#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <cmath>
#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec4 = array<double, 4>;
using ints = array<int, 4>;

template <class A>
concept has_exp = requires(const A& a) { drx::exp(a); };
template <class A>
concept has_abs = requires(const A& a) { drx::abs(a); };
template <class A, class B>
concept has_pow = requires(const A& a, const B& b) { drx::pow(a, b); };
template <class A, class L>
concept has_clamp = requires(const A& a, const L& l) { drx::clamp(a, l, l); };

template <const drx::primitive& P>
void check_value(double low, double high) {  // what runs fast against what the plain interpreter computes
  using row = drx::prim::row_of<&P>;
  for (int i = 0; i <= 100; ++i) {
    const double x = low + (high - low) * i / 100;
    CAPTURE(x);
    CHECK(row::apply(x) == doctest::Approx(row::reference(x)).epsilon(1e-14));
    CHECK(row::apply(static_cast<float>(x)) == doctest::Approx(row::reference(static_cast<float>(x))).epsilon(2e-6));
  }
}
}  // namespace

TEST_CASE("which arrays elementary functions take") {
  static_assert(has_exp<vec4> && has_exp<array<float>>);
  static_assert(!has_exp<ints> && !has_exp<array<bool, 2>> && !has_exp<drx::placed<vec4, clients>>);
  static_assert(has_abs<ints> && has_abs<vec4> && !has_abs<array<bool, 2>> && !has_abs<drx::placed<vec4, clients>>);
  static_assert(has_pow<vec4, vec4> && has_pow<vec4, array<double>> && has_pow<vec4, int> && has_pow<vec4, float> &&
                has_pow<float, vec4> && has_pow<ints, int>);
  static_assert(!has_pow<ints, ints> && !has_pow<ints, double> && !has_pow<vec4, array<float, 4>> &&
                !has_pow<vec4, array<double, 3>> && !has_pow<drx::placed<vec4, clients>, int>);
  static_assert(has_clamp<ints, int> && has_clamp<vec4, array<double>> && !has_clamp<ints, double> &&
                !has_clamp<drx::placed<vec4, clients>, int>);
}

TEST_CASE("elementary functions on the tape") {
  constexpr auto f = [](auto x, auto n) {
    return drx::tanh(x) + drx::pow(x, 5) / drx::sqrt(drx::abs(x)) - drx::cast<double>(drx::square(n));
  };
  CHECK(drx::show<program<f, vec4, ints>>() == R"((%0: f64[4], %1: i32[4]) {
  %2: f64[4] = tanh %0
  %3: f64[4] = mul %0, %0
  %4: f64[4] = mul %3, %3
  %5: f64[4] = mul %0, %4
  %6: f64[4] = abs %0
  %7: f64[4] = sqrt %6
  %8: f64[4] = div %5, %7
  %9: f64[4] = add %2, %8
  %10: i32[4] = mul %1, %1
  %11: f64[4] = cast[f64] %10
  %12: f64[4] = sub %9, %11
  return %12
}
)");
  constexpr auto g = drx::grad([](auto x) { return drx::sum(drx::relu(x) * drx::sigmoid(x)); });
  CHECK(drx::show<program<g, array<float, 2>>>() == R"((%0: f32[2]) {
  %1: f32[2] = relu %0
  %2: f32[2] = sigmoid %0
  %3: f32[2] = constant[1]
  %4: f32[2] = sub %3, %2
  %5: f32[2] = mul %2, %4
  %6: f32[2] = mul %1, %5
  %7: f32[2] = constant[0]
  %8: bool[2] = less %7, %0
  %9: f32[2] = where %8, %2, %7
  %10: f32[2] = add %6, %9
  return %10
}
)");
}

TEST_CASE("fast and plain values agree") {
  check_value<drx::prim::exp>(-20, 20);
  check_value<drx::prim::log>(.01, 20);
  check_value<drx::prim::log1p>(-.9, 20);
  check_value<drx::prim::expm1>(-3, 3);
  check_value<drx::prim::sqrt>(0, 20);
  check_value<drx::prim::rsqrt>(.1, 20);
  check_value<drx::prim::tanh>(-5, 5);
  check_value<drx::prim::sigmoid>(-20, 20);
  check_value<drx::prim::floor>(-5, 5);
  check_value<drx::prim::ceil>(-5, 5);
  check_value<drx::prim::sign>(-1, 1);
  check_value<drx::prim::abs>(-1, 1);
  check_value<drx::prim::relu>(-1, 1);
  using row = drx::prim::row_of<&drx::prim::sin>;
  for (double x = -9; x < 9; x += .25) {
    CHECK(std::abs(row::apply(x) - std::sin(x)) < 1e-15);
    CHECK(std::abs(drx::prim::row_of<&drx::prim::cos>::apply(x) - std::cos(x)) < 1e-15);
    CHECK(drx::prim::row_of<&drx::prim::tan>::apply(x) == doctest::Approx(std::tan(x)).epsilon(1e-13));
  }
}

TEST_CASE("derivatives at the points where a formula has none") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr auto power = [](auto x, auto y) { return drx::sum(drx::pow(x, y)); };
  constexpr auto base = drx::grad(power);
  constexpr auto exponent = drx::grad<1>(power);
  using Base = program<base, vec4, vec4>;
  using Exponent = program<exponent, vec4, vec4>;
  const vec4 x{0., 0., 0., 2.}, y{0., 1., 2., 0.};
  const vec4 dx = interpreter::call<Base>(x, y);
  CHECK(dx[0] == 0);
  CHECK(dx[1] == 1);
  CHECK(dx[2] == 0);
  CHECK(dx[3] == 0);
  const vec4 dy = interpreter::call<Exponent>(x, y);
  for (int i = 0; i < 3; ++i) CHECK(dy[i] == 0);
  CHECK(dy[3] == doctest::Approx(std::log(2)));
  CHECK(interpreter::call<Exponent>(x, vec4{-1., .5, -.5, 1.})[0] == 0);
  CHECK(interpreter::call<Base>(vec4{-2., -2., -1., -1.}, vec4{2., 3., 2., 3.})[1] == 12);

  constexpr auto at_zero =
      drx::grad([](auto v) { return drx::relu(v) + 10 * drx::abs(v) + 100 * drx::sign(v) + 1000 * drx::floor(v); });
  CHECK(interpreter::call<program<at_zero, array<double>>>(0.) == 0);
  constexpr auto bounds = drx::grad([](auto v) { return drx::sum(drx::clamp(v, -1, 1)); });
  const vec4 b = interpreter::call<program<bounds, vec4>>(vec4{-2., -1., 1., 2.});
  CHECK(b[0] == 0);
  CHECK(b[1] == 1);
  CHECK(b[2] == 1);
  CHECK(b[3] == 0);
  constexpr auto root = drx::grad([](auto v) { return drx::sqrt(v); });
  CHECK(interpreter::call<program<root, array<double>>>(0.) == inf);
}

TEST_CASE("NaN stays") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr auto f = [](auto x) { return std::tuple{drx::relu(x), drx::clamp(x, 0, 1), drx::abs(x)}; };
  const auto [a, b, c] = interpreter::call<program<f, array<double>>>(nan);
  CHECK(std::isnan(a));
  CHECK(std::isnan(b));
  CHECK(std::isnan(c));
}

TEST_CASE("derivatives of powers and compositions") {
  constexpr auto powers = [](auto x, auto y) {
    return drx::pow(x, 2.5) + drx::pow(x, -2) * drx::pow(2, y) + drx::pow(x, 0) + drx::pow(x, 0.) + drx::pow(y, 2.);
  };
  harness::check_program<program<powers, vec4, array<double>>>({.low = .5, .high = 2});
  constexpr auto composed = [](auto x, auto low) {
    return drx::clamp(drx::square(x), low, 2) * drx::exp(-drx::abs(x));
  };
  harness::check_program<program<composed, array<double, 3, 2>, array<double, 2>>>();
}

TEST_CASE("integers") {
  constexpr auto f = [](auto n) {
    return std::tuple{drx::pow(n, 3), drx::abs(n), drx::sign(n), drx::relu(n), drx::square(n), drx::clamp(n, -1, 2)};
  };
  const auto [cube, size, sign, positive, square, clamped] = interpreter::call<program<f, array<int>>>(-3);
  CHECK(cube == -27);
  CHECK(size == 3);
  CHECK(sign == -1);
  CHECK(positive == 0);
  CHECK(square == 9);
  CHECK(clamped == -1);
}
