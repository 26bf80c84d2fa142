// drx/scalar/gamma.hpp: the logarithm of the gamma function and its derivatives of every order. Loops over lgamma_near and
// digamma_near vectorise; the others have loops and branches.
#pragma once

#include <drx/scalar/gamma_of_positive.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace drx::math {

/// log(gamma(x)) for x > 0; meaningless elsewhere.
template <std::floating_point T>
DRX_INLINE T lgamma_near(T x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return std::lgamma(x);
#else
  return detail::lgamma_of_positive(x);
#endif
}
/// log |gamma(x)|; infinite at 0 and at the negative integers. For these it is libm's, without libm's global sign.
template <std::floating_point T>
DRX_FN inline T lgamma(T x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return std::lgamma(x);
#else
  if (x > 0) return lgamma_near(x);
  int sign = 0;
  if constexpr (std::same_as<T, float>) {
    return ::lgammaf_r(x, &sign);
  } else {
    return ::lgamma_r(x, &sign);
  }
#endif
}

/// The derivative of lgamma for x > 0; meaningless elsewhere.
template <std::floating_point T>
DRX_INLINE T digamma_near(T x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  double sum = 0, y = static_cast<double>(x);
  for (; y < 10; y += 1) sum -= 1 / y;
  const double z = 1 / (y * y);
  const double tail =
      z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return static_cast<T>(sum + (std::log(y) - 0.5 / y - tail));
#else
  return detail::digamma_of_positive(x);
#endif
}

namespace detail {

inline constexpr double pi = 3.14159265358979323846;

/// The largest order: those above give numbers beyond the range of double.
inline constexpr int most_polygamma = 170;

/// The n-th derivative of cot at pi x: a polynomial in c = cot(pi x), since cot' = -(1 + cot^2).
DRX_FN inline double cotangent_derivative(int n, double x) {
  const double turn = pi * (x - std::nearbyint(x)), c = std::cos(turn) / std::sin(turn);
  double p[most_polygamma + 3] = {0, 1};
  for (int k = 0; k < n; ++k) {
    double q[most_polygamma + 3] = {};
    for (int i = 1; i <= k + 1; ++i) {
      q[i - 1] -= i * p[i];
      q[i + 1] -= i * p[i];
    }
    for (int i = 0; i <= k + 2; ++i) p[i] = q[i];
  }
  double sum = 0;
  for (int i = n + 1; i >= 0; --i) sum = sum * c + p[i];
  return sum;
}

/// sum over k >= 0 of (x + k)^-s for s >= 2, x > 0: the first terms, the rest by Euler and Maclaurin.
DRX_FN inline double hurwitz_zeta(double s, double x) {
  double sum = 0, a = x;
  for (; a < 12 + s / 2; a += 1) sum += std::pow(a, -s);
  const double power = std::pow(a, -s), z = 1 / (a * a);
  sum += power * (a / (s - 1) + 0.5);
  constexpr double b[] = {1. / 12,          -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000.,
                          1. / 74724249600.};
  double term = power * s / a;
  for (int j = 0; j < 7; ++j) {
    sum += b[j] * term;
    term *= (s + 2 * j + 1) * (s + 2 * j + 2) * z;
  }
  return sum;
}

DRX_FN inline double digamma(double x) {
  if (x == 0) return -1 / x;
  if (!(x < 0)) return digamma_near(x);  // NaN too
  if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
  return digamma_near(1 - x) - pi * cotangent_derivative(0, x);  // by reflection
}

DRX_FN inline double polygamma(double order, double x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  if (!(order >= 0) || order > most_polygamma || order != std::floor(order) || std::isnan(x)) return nan;
  const int n = static_cast<int>(order);
  if (n == 0) return digamma(x);
  const bool odd = n % 2 != 0;
  if (x <= 0 && x == std::floor(x)) return odd ? inf : x == 0 ? -1 / x : nan;
  if (x < 0) return (odd ? -1 : 1) * polygamma(order, 1 - x) - std::pow(pi, n + 1) * cotangent_derivative(n, x);
  if (x == inf) return 0;
  return (odd ? 1 : -1) * std::tgamma(order + 1) * hurwitz_zeta(order + 1, x);
}

}  // namespace detail

/// The derivative of lgamma. At 0 infinite with the sign of -x, at negative integers NaN, as in SciPy (JAX: NaN at
/// both).
template <std::floating_point T>
DRX_FN inline T digamma(T x) {
  return x > 0 ? digamma_near(x) : static_cast<T>(detail::digamma(static_cast<double>(x)));
}

/// The n-th derivative of digamma, for whole n from 0 to 170; NaN for other n.
template <std::floating_point T>
DRX_FN inline T polygamma(T n, T x) {
  return static_cast<T>(detail::polygamma(static_cast<double>(n), static_cast<double>(x)));
}

}  // namespace drx::math
