// Compiled with -ffast-math: of finite numbers everything is right still. (Accuracy is measured by bits, since to the
// compiler no number is NaN.)
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>
#include <drx/scalar/cbrt.hpp>
#include <drx/scalar/erf.hpp>
#include <drx/scalar/erfinv.hpp>
#include <drx/scalar/gamma.hpp>
#include <drx/scalar/hyperbolic.hpp>
#include <drx/scalar/inverse_trigonometric.hpp>
#include <drx/scalar/pack.hpp>
#include <drx/scalar/pow.hpp>

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#if !defined(__FAST_MATH__)
#error "this file is compiled with -ffast-math"
#endif

namespace {

bool is_finite(double x) { return (std::bit_cast<std::uint64_t>(x) >> 52 & 2047) != 2047; }

/// |y - exact| in units of the last place of exact as a T; a large number where y is not finite.
template <class T>
double ulps(T y, long double exact) {
  if (!is_finite(static_cast<double>(y))) return 1e30;
  int e = 0;
  std::frexp(exact, &e);
  e = std::max(e, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(y) - exact) /
                             std::ldexp(1.0L, e - std::numeric_limits<T>::digits));
}
/// n numbers from low to high, or of magnitudes from low to high.
template <class T>
std::vector<T> spread(int n, double low, double high, bool magnitudes) {
  std::mt19937_64 random(7);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    v = static_cast<T>(magnitudes ? low * std::pow(high / low, u) : low + (high - low) * u);
  }
  return x;
}
/// `exact` is the C library's: inline, under -ffast-math, the x87's sine of long double knows 66 bits of pi.
template <class T, class F>
void check_function(const char* name, F loop, long double (*reference)(long double), double low, double high,
                    bool magnitudes = false) {
  long double (*volatile exact)(long double) = reference;
  const auto x = spread<T>(5001, low, high, magnitudes);
  std::vector<T> y(x.size());
  loop(static_cast<int>(x.size()), x.data(), y.data());
  double worst = 0;
  T where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = ulps(y[i], exact(static_cast<long double>(x[i])));
    if (error > worst) worst = error, where = x[i];
  }
  const std::string function = name;
  CAPTURE(function);
  CAPTURE(where);
  CHECK(worst <= 4);
}
#define DRX_CHECK_FUNCTION(name, ...)                             \
  check_function<T>(                                              \
      #name,                                                      \
      [](int n, const T* x, T* y) {                               \
        for (int i = 0; i < n; ++i) y[i] = drx::math::name(x[i]); \
      },                                                          \
      ::name##l, __VA_ARGS__)

}  // namespace

TEST_CASE_TEMPLATE("elementary functions in loops", T, float, double) {
  constexpr bool single = sizeof(T) == 4;
  DRX_CHECK_FUNCTION(exp, single ? -87 : -708, single ? 88.7 : 709.7);
  DRX_CHECK_FUNCTION(exp2, single ? -125 : -1021, single ? 127.9 : 1023.9);
  DRX_CHECK_FUNCTION(expm1, -3, 3);
  DRX_CHECK_FUNCTION(expm1, 1e-10, 80, true);
  DRX_CHECK_FUNCTION(log, 1e-30, 1e30, true);
  DRX_CHECK_FUNCTION(log, 0.5, 2);
  DRX_CHECK_FUNCTION(log1p, -0.9, 3);
  DRX_CHECK_FUNCTION(log1p, 1e-12, 1e12, true);
  DRX_CHECK_FUNCTION(tanh, -10, 10);
  DRX_CHECK_FUNCTION(tanh, 1e-12, 1, true);
  check_function<T>(
      "sigmoid",
      [](int n, const T* x, T* y) {
        for (int i = 0; i < n; ++i) y[i] = drx::math::sigmoid(x[i]);
      },
      [](long double x) -> long double { return 1 / (1 + std::exp(-x)); }, -80, 80);
  DRX_CHECK_FUNCTION(sin, -10, 10);
  DRX_CHECK_FUNCTION(sin, -131000, 131000);
  DRX_CHECK_FUNCTION(cos, -10, 10);
  DRX_CHECK_FUNCTION(cos, -131000, 131000);
  DRX_CHECK_FUNCTION(tan, -10, 10);
  DRX_CHECK_FUNCTION(tan, -131000, 131000);
  DRX_CHECK_FUNCTION(sinh, -80, 80);
  DRX_CHECK_FUNCTION(sinh, -1, 1);
  DRX_CHECK_FUNCTION(cosh, -80, 80);
  DRX_CHECK_FUNCTION(asinh, 1e-10, 1e30, true);
  DRX_CHECK_FUNCTION(acosh, 1, 100);
  DRX_CHECK_FUNCTION(acosh, 1, 1e30, true);
  DRX_CHECK_FUNCTION(atanh, -0.999, 0.999);
  DRX_CHECK_FUNCTION(asin, -1, 1);
  DRX_CHECK_FUNCTION(acos, -1, 0.999);
  DRX_CHECK_FUNCTION(atan, -10, 10);
  DRX_CHECK_FUNCTION(atan, 1e-8, 1e20, true);
  DRX_CHECK_FUNCTION(erf, -5, 5);
  DRX_CHECK_FUNCTION(erfc, -3, single ? 9 : 26);
  DRX_CHECK_FUNCTION(cbrt, 1e-30, 1e30, true);
  DRX_CHECK_FUNCTION(lgamma, 2.5, 30);
  check_function<T>(
      "pow",
      [](int n, const T* x, T* y) {
        for (int i = 0; i < n; ++i) y[i] = drx::math::pow(x[i], T(-1.75));
      },
      [](long double x) { return std::pow(x, -1.75L); }, 1e-20, 1e20, true);
  for (const T x : spread<T>(1000, -0.99, 0.99, false))
    CHECK(std::abs(std::erf(drx::math::erfinv(x)) - x) <= 8 * std::numeric_limits<T>::epsilon() * std::abs(x));
  CHECK(drx::math::digamma(T(1)) == doctest::Approx(-0.57721566490153286).epsilon(1e-6));
  CHECK(drx::math::polygamma(T(1), T(-0.5)) == doctest::Approx(8.934802200544679).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("packs of ordinary C++", T, float, double) {
  constexpr int width = 8;
  const auto x = spread<T>(width, -3, 3, false);
  const auto p = drx::ad::pack<T, width>::load(x.data());
  const auto check = [&](const auto& y, auto exact) {
    T lane[width];
    y.store(lane);
    for (int i = 0; i < width; ++i)
      CHECK(ulps(lane[i], exact(static_cast<long double>(x[static_cast<std::size_t>(i)]))) <= 4);
  };
  check(exp(p), [](long double v) { return std::exp(v); });
  check(exp2(p), [](long double v) { return std::exp2(v); });
  check(expm1(p), [](long double v) { return std::expm1(v); });
  check(tanh(p), [](long double v) { return std::tanh(v); });
  check(sin(p), [](long double v) { return std::sin(v); });
  check(cos(p), [](long double v) { return std::cos(v); });
  check(sigmoid(p), [](long double v) { return 1 / (1 + std::exp(-v)); });
}

namespace {
constexpr auto functions = [](auto x) {
  return std::tuple{drx::exp(x),     drx::sin(x),  drx::cos(x),       drx::tanh(x),
                    drx::sigmoid(x), drx::exp2(x), drx::log1p(x * x), drx::softmax(x)};
};
constexpr auto slopes = [](auto x) {
  return drx::grad([](auto v) { return drx::sum(drx::tanh(v) * drx::sin(v)); })(x);
};
constexpr auto layer = [](auto x, auto w) { return drx::tanh(drx::matmul(x, w)); };
constexpr auto folds = [](auto x) {
  return std::tuple{drx::max(x), drx::min(x), drx::sum(x), drx::log_softmax(x), drx::cumsum(x)};
};
constexpr auto norm = [](auto x) {
  return drx::grad([](auto v) {
    auto s = drx::dot(v, v);
    return drx::where(s > 0, drx::sqrt(s), 0);
  })(x);
};
template <const auto& f, class... X>
auto run(const X&... x) {
  drx::serial_executor e;
  drx::single_rank c;
  return drx::compiled<drx::program<f, X...>>(e, c)(x...);
}
}  // namespace

TEST_CASE_TEMPLATE("elementary functions in a compiled program", T, float, double) {
  constexpr int n = 1000;
  drx::array<T, n> x;
  const auto from = spread<T>(n, -8, 8, false);
  for (int i = 0; i < n; ++i) x[i] = from[static_cast<std::size_t>(i)];
  const auto [e, s, c, t, g, p, l, soft] = run<functions>(x);
  const auto slope = run<slopes>(x);
  long double total = 0;
  for (int i = 0; i < n; ++i) total += std::exp(static_cast<long double>(x[i]));
  for (int i = 0; i < n; ++i) {
    const auto v = static_cast<long double>(x[i]);
    CAPTURE(x[i]);
    CHECK(ulps(e[i], std::exp(v)) <= 4);
    CHECK(ulps(s[i], std::sin(v)) <= 4);
    CHECK(ulps(c[i], std::cos(v)) <= 4);
    CHECK(ulps(t[i], std::tanh(v)) <= 4);
    CHECK(ulps(g[i], 1 / (1 + std::exp(-v))) <= 4);
    CHECK(ulps(p[i], std::exp2(v)) <= 4);
    CHECK(ulps(l[i], std::log1p(v * v)) <= 6);        // of x * x rounded
    CHECK(ulps(soft[i], std::exp(v) / total) <= 40);  // of x - max rounded
    const long double exact = (1 - std::tanh(v) * std::tanh(v)) * std::sin(v) + std::tanh(v) * std::cos(v);
    CHECK(std::abs(static_cast<double>(static_cast<long double>(slope[i]) - exact)) <=
          8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}
TEST_CASE_TEMPLATE("tanh behind a product of matrices", T, float, double) {
  drx::array<T, 32, 20> x;
  drx::array<T, 20, 32> w;
  const auto from = spread<T>(640, -0.5, 0.5, false);
  for (int i = 0; i < 640; ++i)
    x[i] = from[static_cast<std::size_t>(i)], w[i] = from[static_cast<std::size_t>(639 - i)];
  const auto y = run<layer>(x, w);
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) {
      long double sum = 0;
      for (int k = 0; k < 20; ++k)
        sum += static_cast<long double>(x[i * 20 + k]) * static_cast<long double>(w[k * 32 + j]);
      CHECK(std::abs(static_cast<double>(static_cast<long double>(y[i * 32 + j]) - std::tanh(sum))) <=
            8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }
}
TEST_CASE("extrema and sums") {
  drx::array<float, 37> x;
  for (int i = 0; i < 37; ++i) x[i] = static_cast<float>((i * 7) % 37) - 100;
  const auto [most, least, sum, soft, running] = run<folds>(x);
  CHECK(most == -64);
  CHECK(least == -100);
  CHECK(sum == doctest::Approx(-82 * 37));
  CHECK(running[36] == doctest::Approx(-82 * 37));
  double total = 0;
  for (int i = 0; i < 37; ++i) total += std::exp(static_cast<double>(soft[i]));
  CHECK(total == doctest::Approx(1));
}
TEST_CASE("a zero cotangent stops at an infinite derivative") {
  const auto slope = run<norm>(drx::array<double, 3>{0, 0, 0});
  for (int i = 0; i < 3; ++i) CHECK((std::bit_cast<std::uint64_t>(slope[i]) << 1) == 0);
  CHECK(run<norm>(drx::array<double, 3>{3, 0, 4})[2] == doctest::Approx(0.8));
}
