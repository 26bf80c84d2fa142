#include <drx/scalar/gamma.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
// x, digamma, and its first four derivatives, from mpmath with 30 digits.
struct row {
  double x, values[5];
};
constexpr row table[] = {
    {0.125, {-8.3884926632958549, 65.388133444988034, -1025.7533381181357, 24580.143419063566, -786445.98543106379}},
    {0.5, {-1.9635100260214235, 4.9348022005446793, -16.82879664423432, 97.409091034002437, -771.47424982666723}},
    {1, {-0.57721566490153286, 1.6449340668482264, -2.4041138063191886, 6.4939394022668291, -24.886266123440878}},
    {2.5, {0.70315664064524319, 0.49035775610023486, -0.2362040516417274, 0.22390584881725205, -0.31375599950673136}},
    {11.75,
     {2.4206968934226321, 0.088830522079623873, -0.0078856985059073842, 0.001399152559523302, -0.00037213421684144267}},
    {100,
     {4.6001618527380874, 0.010050166663333571, -0.00010100499983335, 2.030199990001333e-6, -6.1209999300119967e-8}},
    {-0.25, {2.9141391202135278, 18.541879647671606, 122.69736678366236, 1555.7633125348506, 24473.199394184583}},
    {-2.5, {1.1031566406452432, 9.5392466449891238, -0.1082040516417274, 194.74787621918762, -0.067995999506731363}},
    {-7.125, {9.6166224295944972, 67.262913719987048, 1022.2772644358678, 24590.997851396615, 786397.99075686219}},
};
}  // namespace

TEST_CASE("digamma and polygamma against tabulated values") {
  for (const row& r : table)
    for (int n = 0; n < 5; ++n) {
      CAPTURE(r.x);
      CAPTURE(n);
      CHECK(std::abs(drx::math::polygamma(static_cast<double>(n), r.x) - r.values[n]) <=
            5e-13 * (1 + std::abs(r.values[n])));
      CHECK(drx::math::polygamma(static_cast<float>(n), static_cast<float>(r.x)) ==
            doctest::Approx(r.values[n]).epsilon(1e-5));
    }
  CHECK(drx::math::polygamma(20., 2.5) == doctest::Approx(-10709198259.124132).epsilon(1e-12));
}

namespace {
/// The distance in units in the last place of T.
template <class T>
long double ulps(T found, long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(found - exact) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
}
long double long_digamma(long double x) {
  long double sum = 0;
  for (; x < 40; ++x) sum -= 1 / x;
  const long double z = 1 / (x * x);
  return sum + std::log(x) - 0.5L / x - z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z / 240)));
}
/// x with an even distribution of its logarithm.
template <class T, class F>
void for_numbers_between(double low, double high, F&& f) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> at(std::log(low), std::log(high));
  for (int i = 0; i < 20000; ++i) f(static_cast<T>(std::exp(at(random))));
}
}  // namespace

TEST_CASE_TEMPLATE("lgamma and digamma of positive numbers are right to 4.5 ulp", T, float, double) {
  constexpr double ranges[][2] = {{1e-35, 0.01}, {0.01, 1}, {1, 1.4}, {1.4, 1.5},
                                  {1.5, 2.5},    {2.5, 9},  {9, 1e3}, {1e3, 1e35}};
  for (const auto& range : ranges)
    for_numbers_between<T>(range[0], range[1], [&](T x) {
      CAPTURE(x);
      CHECK(ulps(drx::math::lgamma(x), ::lgammal(x)) <= 4.5L);
      if (std::fabs(x - T(1.4616321)) > T(1e-2)) CHECK(ulps(drx::math::digamma(x), long_digamma(x)) <= 4.5L);
    });
}

TEST_CASE("digamma keeps its digits near its zero") {  // from mpmath with 50 digits
  constexpr double near[][2] = {{1.4616321449683622, -9.2412655217294275168e-17},
                                {1.4616321449683625, 1.2245374622004069031e-16},
                                {1.46163214, -4.8077462768328061139e-9},
                                {1.461633, 8.2739006100857999687e-7},
                                {1.46, -0.0015805619870834521062},
                                {1.4616, -0.000031106251230341649658}};
  for (const auto& r : near) {
    CAPTURE(r[0]);
    CHECK(ulps(drx::math::digamma(r[0]), r[1]) <= 4.5L);
  }
  CHECK(ulps(drx::math::digamma(1.461632132530212402f), -1.20360525491e-8L) <= 4.5L);
}

TEST_CASE("lgamma, digamma and polygamma at their poles and at infinity") {
  CHECK(drx::math::lgamma(0.) == inf);
  CHECK(drx::math::lgamma(-2.f) == std::numeric_limits<float>::infinity());
  CHECK(drx::math::lgamma(0.5) == doctest::Approx(0.57236494292470008707));
  CHECK(drx::math::digamma(0.) == -inf);
  CHECK(drx::math::digamma(-0.) == inf);
  CHECK(std::isnan(drx::math::digamma(-1.)));
  CHECK(drx::math::digamma(inf) == inf);
  CHECK(drx::math::lgamma(inf) == inf);
  CHECK(drx::math::lgamma(1.) == 0);
  CHECK(drx::math::lgamma(2.) == 0);
  CHECK(std::isnan(drx::math::lgamma(std::nan(""))));
  CHECK(drx::math::lgamma(1e308) == inf);
  CHECK(drx::math::digamma(std::numeric_limits<double>::denorm_min()) == -inf);
  CHECK(drx::math::polygamma(1., 0.) == inf);
  CHECK(drx::math::polygamma(1., -3.) == inf);
  CHECK(drx::math::polygamma(1., inf) == 0);
  CHECK(std::isnan(drx::math::polygamma(2., -3.)));
  CHECK(std::isnan(drx::math::polygamma(0.5, 1.)));
  CHECK(std::isnan(drx::math::polygamma(-1., 1.)));
  CHECK(std::isnan(drx::math::digamma(std::nan(""))));
}
