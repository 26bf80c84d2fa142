#include <drx/scalar/dual.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

using drx::ad::derivative;
using drx::ad::dual;

namespace {

// ---- Perturbation confusion: what is of an outer derivative is a constant of the inner one. ----

static_assert(derivative([](auto x) { return x * derivative([x](auto y) { return x + y; }, 1.0); }, 1.0) == 1);
static_assert(derivative([](auto x) { return x * derivative([x](auto y) { return x + y; }, x); }, 1.0) == 1);
static_assert(derivative([](auto x) { return derivative([x](auto y) { return x * x * y * y; }, x); }, 3.0) ==
              4 * 9 + 2 * 9);
static_assert(derivative([](auto x) { return derivative([x](auto) { return x; }, 2.0); }, 3.0) == 0);
static_assert(derivative([](auto x) { return derivative([](auto y) { return y * y; }, 5.0) * x; }, 3.0) == 10);
static_assert(derivative([](auto) { return 1.0; }, 3.0) == 0);

// One function type at all levels: types of functions cannot tell derivatives apart, levels do.
struct confusing {
  int depth;
  template <class X>
  constexpr auto operator()(const X& x) const {
    if constexpr (drx::ad::level<X> < 3) {
      return x * derivative([this, x](const auto& y) { return x * confusing{depth - 1}(y); }, x);
    } else {
      return x * x;
    }
  }
};
static_assert(confusing{3}(dual<dual<dual<double>>>(2)).value.value.value == 4);

// Two derivatives side by side, whichever is built first, inside a third ("tag wars").
constexpr auto wars = [](auto x) {
  const auto d = [x](auto y) { return derivative([x, y](auto z) { return x * y * z; }, y); };  // x y
  return derivative([x, d](auto y) { return d(y) * y + derivative([y](auto z) { return y * z * z; }, x); },
                    x);  // 2 x y + 2 x
};
static_assert(wars(3.0) == 2 * 9 + 2 * 3);
static_assert(derivative(wars, 3.0) == 4 * 3 + 2);

// ---- Third order, mixed types, everything constexpr ----

constexpr auto cube = [](auto x) { return x * x * x / 2; };
static_assert(derivative(derivative(derivative(cube)))(7.0) == 3);
static_assert(derivative(derivative(cube), 2) == 6);
constexpr dual<double, 2> p{3.0}, q = dual<double, 2>::variable(2, 1);
static_assert((2 * p - 1).value == 5 && (1 / q).tangent[1] == -0.25 && (p * q).tangent[1] == 3 &&
              (p * q).tangent[0] == 0);
static_assert(p > q && q < 3 && 2 == q && p != q && -q < 0 && +q >= 2);
static_assert((dual<dual<double>, 2>(1.5) * dual<double>::variable(2)).value.tangent[0] == 1.5);
static_assert(dual<float>(1) * 2 == 2.0f && std::is_same_v<decltype(dual<float>(1) * 2.0), dual<float>>);
static_assert(drx::ad::level<dual<dual<float, 3>>> == 2 && std::is_trivially_copyable_v<dual<dual<float, 3>>>);
static_assert(!std::is_convertible_v<dual<double>, double> && !std::is_convertible_v<dual<dual<double>>, dual<double>>);

/// Ordinary code: loops, branches, an accumulator that starts as an integer.
template <class T>
constexpr T horner(const T& x) {
  T sum = 0;
  for (int i = 4; i > 0; --i) {
    sum *= x;
    sum += i;
    if (sum > 100) sum -= 100;
  }
  return sum;
}
static_assert(derivative([](auto x) { return horner(x); }, 2.0) == 2 + 6 * 2 + 12 * 4);

// ---- The table against differences ----

struct point {
  const char* name;
  double low, high;
};
template <class F>
void check(const char* name, F f, double low, double high) {
  CAPTURE(std::string(name));
  for (int i = 0; i <= 20; ++i) {
    const double x = low + (high - low) * (i + 0.37) / 21;
    CAPTURE(x);
    const long double h = 1e-5L;
    const long double l = x;  // fourth order differences in long double
    const long double slope = (8 * (f(l + h) - f(l - h)) - (f(l + 2 * h) - f(l - 2 * h))) / (12 * h);
    CHECK(derivative(f, x) == doctest::Approx(static_cast<double>(slope)).epsilon(1e-11));
    const long double bend = (f(l + 100 * h) - 2 * f(l) + f(l - 100 * h)) / (10000 * h * h);
    CHECK(derivative(derivative(f), x) == doctest::Approx(static_cast<double>(bend)).epsilon(2e-4));
    const double third = (derivative(derivative(f), x + 1e-5) - derivative(derivative(f), x - 1e-5)) / 2e-5;
    CHECK(derivative(derivative(derivative(f)), x) == doctest::Approx(third).epsilon(1e-5).scale(1));
    CHECK(derivative(f, static_cast<float>(x)) ==
          doctest::Approx(derivative(f, static_cast<double>(static_cast<float>(x)))).epsilon(1e-3));
  }
}
#define CHECK_FUNCTION(name, low, high) \
  check(                                \
      #name,                            \
      [](auto x) {                      \
        using std::name;                \
        return name(x);                 \
      },                                \
      low, high)
#define CHECK_EXPRESSION(expression, low, high)                                                    \
  check(                                                                                           \
      #expression,                                                                                 \
      [](auto x) {                                                                                 \
        using std::pow, std::atan2, std::hypot, std::fmod, std::fma, std::max, std::min, std::exp; \
        return expression;                                                                         \
      },                                                                                           \
      low, high)

}  // namespace

TEST_CASE("elementary functions, three orders") {
  CHECK_FUNCTION(exp, -2, 2), CHECK_FUNCTION(exp2, -2, 2), CHECK_FUNCTION(expm1, -2, 2), CHECK_FUNCTION(log, 0.3, 4);
  CHECK_FUNCTION(log2, 0.3, 4), CHECK_FUNCTION(log10, 0.3, 4), CHECK_FUNCTION(log1p, -0.5, 3),
      CHECK_FUNCTION(sqrt, 0.3, 4);
  CHECK_FUNCTION(cbrt, 0.3, 4), CHECK_FUNCTION(sin, -4, 4), CHECK_FUNCTION(cos, -4, 4), CHECK_FUNCTION(tan, -1.2, 1.2);
  CHECK_FUNCTION(asin, -0.8, 0.8), CHECK_FUNCTION(acos, -0.8, 0.8), CHECK_FUNCTION(atan, -3, 3),
      CHECK_FUNCTION(sinh, -2, 2);
  CHECK_FUNCTION(cosh, -2, 2), CHECK_FUNCTION(tanh, -2, 2), CHECK_FUNCTION(asinh, -3, 3), CHECK_FUNCTION(acosh, 1.3, 4);
  CHECK_FUNCTION(atanh, -0.8, 0.8), CHECK_FUNCTION(erf, -2, 2), CHECK_FUNCTION(erfc, -2, 2), CHECK_FUNCTION(abs, -1, 3);
  CHECK_FUNCTION(fabs, -1, 3), CHECK_FUNCTION(lgamma, 0.3, 12);
  check("sigmoid", [](auto x) { return drx::ad::sigmoid(x); }, -4, 4);
  CHECK(drx::ad::sigmoid(-740) == std::exp(-740.0));
  CHECK(drx::ad::sigmoid(800.0f) == 1);
}

TEST_CASE("functions of two arguments and compositions, three orders") {
  CHECK_EXPRESSION(pow(x, 2.5), 0.3, 3);
  CHECK_EXPRESSION(pow(x, 3), 0.3, 3);
  CHECK_EXPRESSION(pow(1.5, x), -2, 2);
  CHECK_EXPRESSION(pow(x, x), 0.3, 3);
  CHECK_EXPRESSION(atan2(x, 2), -3, 3);
  CHECK_EXPRESSION(atan2(2, x), 0.3, 3);
  CHECK_EXPRESSION(atan2(x * x, x), 0.3, 3);
  CHECK_EXPRESSION(hypot(x, 2), -3, 3);
  CHECK_EXPRESSION(hypot(x * x, x), 0.3, 3);
  CHECK_EXPRESSION(fmod(x * x, 10), 0.3, 2.5);
  CHECK_EXPRESSION(fma(x, x, x), -2, 2);
  CHECK_EXPRESSION(max(x * x, x), 0.3, 2.2);
  CHECK_EXPRESSION(min(x * x, x), 0.3, 2.2);
  CHECK_EXPRESSION(1 / (x + 2) - x / 3 * (2 - x) / exp(x), -1, 2);
}

TEST_CASE("kinks and edges") {
  using std::abs, std::sqrt, std::max, std::min, std::pow, std::floor;
  CHECK(derivative([](auto x) { return abs(x); }, 0.0) == 0);
  CHECK(derivative([](auto x) { return max(x, 2 * x); }, 0.0) == 1.5);
  CHECK(derivative([](auto x) { return min(x, decltype(x)(0)); }, 0.0) == 0.5);
  CHECK(derivative([](auto x) { return floor(x) * x; }, 2.5) == 2);
  CHECK(derivative([](auto x) { return pow(x, 2); }, 0.0) == 0);
  CHECK(derivative([](auto x) { return pow(x, 0.0); }, 0.0) == 0);
  CHECK(derivative(derivative(derivative([](auto x) { return pow(x, 2); })))(0.0) == 0);
  CHECK(derivative([](auto y) { return pow(0.0, y); }, 2.0) == 0);
  CHECK(derivative([](auto y) { return y * sqrt(decltype(y)(0)); }, 2.0) == 0);
  CHECK(derivative([](auto x) { return sqrt(x * x); }, 0.0) == 0);
  CHECK(derivative([](auto x) { return drx::ad::lgamma(x); }, -1.5) == doctest::Approx(0.70315664064524318723));
  CHECK(std::isnan(max(dual<double>(NAN), dual<double>(1)).value));
  CHECK(derivative(derivative([](auto x) { return drx::ad::select(x > 1, x * x, 1); }), 2.0) == 2);
}
