// drx/scalar/hyperbolic.hpp: sinh, cosh and the inverse hyperbolic functions, by the rules of math.hpp. Measured: at most 1.6 ulp for
// sinh and cosh, 1.7 for asinh and atanh, 2.5 for acosh, in float and double. (asinh and acosh vectorise under
// -fno-math-errno only, for their root.)
#pragma once

#include <drx/scalar/math.hpp>

namespace drx::math {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(sinh)
DRX_FORWARD(cosh)
DRX_FORWARD(asinh)
DRX_FORWARD(acosh)
DRX_FORWARD(atanh)
#undef DRX_FORWARD

#else

namespace detail {

/// P in sinh(a) = a + a^3 P(a^2), |a| <= 1.
template <class T>
DRX_INLINE T sinh_series(T z) {
  if constexpr (std::same_as<T, float>) {
    return horner(z, 0.16666666498f, 0.0083333500588f, 0.00019836159678f, 2.8169517199e-6f);
  } else {
    return horner(z, 0.16666666666666667383, 0.0083333333333331477532, 0.0001984126984143186513,
                  2.7557319157074287816e-6, 2.5052123136330964736e-8, 1.6057259799709433814e-10,
                  7.7587478528292370781e-13);
  }
}

/// exp(a) / 2 for a >= 0; it overflows a little later than exp(a).
template <class T>
DRX_INLINE T half_exp(T a) {
  const auto e = exp_split(select(a > format<T>::exp_max + 1, format<T>::exp_max + 1, a));
  return exp_join(e.r, e.n - 1);
}

}  // namespace detail

template <std::floating_point T>
DRX_INLINE T sinh(T x) {
  const T a = detail::magnitude(x), z = a * a;
  const T h = detail::half_exp(a);
  const T small = detail::fma(a * z, detail::sinh_series(z), a);
  return detail::with_sign_of(detail::select(a < 1, small, h - T(0.25) / h), x);
}

template <std::floating_point T>
DRX_INLINE T cosh(T x) {
  const T h = detail::half_exp(detail::magnitude(x));
  return h + T(0.25) / h;
}

template <std::floating_point T>
DRX_INLINE T asinh(T x) {
  constexpr T large = T(1) / std::numeric_limits<T>::epsilon();
  const T a = detail::magnitude(x), z = a * a;
  const bool far = a > large;  // there it is log(2 a)
  const T argument = detail::select(far, a, a + z / (1 + std::sqrt(1 + z)));
  return detail::with_sign_of(drx::math::log1p(argument) + detail::select(far, T(0.69314718055994530942), T(0)), x);
}

/// acosh; NaN below 1.
template <std::floating_point T>
DRX_INLINE T acosh(T x) {
  constexpr T large = T(1) / std::numeric_limits<T>::epsilon();
  const T t = x - 1;
  const bool far = x > large;
  const T argument = detail::select(far, x, t + std::sqrt(t * (t + 2)));
  const T result = drx::math::log1p(argument) + detail::select(far, T(0.69314718055994530942), T(0));
  return detail::select(x >= 1, result, std::numeric_limits<T>::quiet_NaN());
}

/// atanh; infinite at -1 and 1, NaN beyond.
template <std::floating_point T>
DRX_INLINE T atanh(T x) {
  const T a = detail::magnitude(x), twice = a + a;
  const T argument = detail::select(a < T(0.5), twice + twice * a / (1 - a), twice / (1 - a));
  return detail::with_sign_of(T(0.5) * drx::math::log1p(argument), x);
}

#endif

}  // namespace drx::math
