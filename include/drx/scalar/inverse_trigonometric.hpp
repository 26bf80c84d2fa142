// drx/scalar/inverse_trigonometric.hpp: asin, acos, atan, atan2, by the rules of math.hpp. Measured: at most 0.9 ulp for float and
// double. (asin and acos vectorise under -fno-math-errno only, for their root.)
#pragma once

#include <drx/scalar/math.hpp>

namespace drx::math {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(asin)
DRX_FORWARD(acos)
DRX_FORWARD(atan)
#undef DRX_FORWARD

template <std::floating_point T>
DRX_INLINE T atan2(T y, T x) {
  return std::atan2(y, x);
}

#else

namespace detail {

/// pi/2 and the angles of atan's table: atan(1/2), pi/4, atan(3/2), pi/2 as high + low.
inline constexpr double angles_high[] = {0.46364760900080609352, 0.78539816339744827900, 0.98279372324732905408,
                                         1.57079632679489655800};
inline constexpr double angles_low[] = {2.26987774529616870924e-17, 3.06161699786838301793e-17,
                                        1.39033110312309984516e-17, 6.12323399573676603587e-17};
template <class T, int I>
inline constexpr T angle_high = static_cast<T>(angles_high[I]);
template <class T, int I>
inline constexpr T angle_low = static_cast<T>(angles_high[I] - static_cast<double>(angle_high<T, I>) + angles_low[I]);
template <class T>
inline constexpr T half_pi_hi = angle_high<T, 3>;
template <class T>
inline constexpr T half_pi_lo = angle_low<T, 3>;

/// P in asin(s) = s + s^3 P(s^2), |s| <= 1/2: minimax for the relative error.
template <class T>
DRX_INLINE T asin_series(T z) {
  if constexpr (std::same_as<T, float>) {
    return horner(z, 0.16666752457f, 0.074952982775f, 0.045470307405f, 0.024179844038f, 0.042165748849f);
  } else {
    return horner(z, 0.1666666666666676043, 0.074999999999708044051, 0.044642857174607082363, 0.030381942708028058798,
                  0.022372214980419571244, 0.017351612148731455384, 0.013980818873833329093, 0.011398926283722653945,
                  0.010780172338915016502, 0.0037067178366906648397, 0.021706683620257674971, -0.020997966930557148652,
                  0.032627929534483115437);
  }
}

/// P in atan(t) = t + t^3 P(t^2), |t| <= 7/16.
template <class T>
DRX_INLINE T atan_series(T z) {
  if constexpr (std::same_as<T, float>) {
    return horner(z, -0.33333303377f, 0.19997734313f, -0.14229516489f, 0.10490353442f, -0.058180242338f);
  } else {
    return horner(z, -0.33333333333333313677, 0.19999999999992947003, -0.14285714284830473285, 0.11111111055468486716,
                  -0.090909070330054746034, 0.076922590694777036089, -0.066658967389758349738, 0.058739700373940621649,
                  -0.051998335474568331313, 0.044320865421745375309, -0.031898213394751806076, 0.013676781788755854305);
  }
}

/// a = |x|, and s with asin(s) or, above 1/2, pi/2 - 2 asin(s) for asin(a): s = high + low.
template <class T>
struct asin_parts {
  T z, s, high, low;
};

template <class T>
DRX_INLINE asin_parts<T> asin_split(T a) {
  using U = bits_t<T>;
  constexpr int half = format<T>::mantissa / 2 + 1;
  const bool small = a < T(0.5);
  const T z = select(small, a * a, (1 - a) * T(0.5));
  const T root = std::sqrt(z);
  const T high = cast<T>(cast<U>(root) & ~((U{1} << half) - 1));  // its square is exact
  const T low = select(root > 0, (z - high * high) / (root + high), T(0));
  return {z, select(small, a, root), high, low};
}

/// atan(a) for a >= 0: a is turned by a tabulated angle, so that at most 7/16 is left.
template <class T>
DRX_INLINE T atan_of_positive(T a) {
  const bool b1 = a >= T(0.4375), b2 = a >= T(0.6875), b3 = a >= T(1.1875), b4 = a >= T(2.4375);
  auto choose = [&](T v0, T v1, T v2, T v3, T v4) {
    return select(b4, v4, select(b3, v3, select(b2, v2, select(b1, v1, v0))));
  };
  const T over = choose(a, 2 * a - 1, a - 1, a - T(1.5), T(-1)),
          under = choose(T(1), a + 2, a + 1, fma(T(1.5), a, T(1)), a);
  const T t = over / under, z = t * t;
  const T turn = choose(T(0), angle_high<T, 0>, angle_high<T, 1>, angle_high<T, 2>, angle_high<T, 3>);
  const T rest = choose(T(0), angle_low<T, 0>, angle_low<T, 1>, angle_low<T, 2>, angle_low<T, 3>);
  return turn + (t + fma(z * t, atan_series(z), rest));
}

}  // namespace detail

template <std::floating_point T>
DRX_INLINE T asin(T x) {
  const T a = detail::magnitude(x);
  const auto p = detail::asin_split(a);
  const T curve = p.s * p.z * detail::asin_series(p.z);
  constexpr T quarter = detail::half_pi_hi<T> / 2;
  const T large = quarter - (2 * curve - (detail::half_pi_lo<T> - 2 * p.low) - (quarter - 2 * p.high));
  return detail::with_sign_of(detail::select(a < T(0.5), p.s + curve, large), x);
}

template <std::floating_point T>
DRX_INLINE T acos(T x) {
  const T a = detail::magnitude(x);
  const auto p = detail::asin_split(a);
  const T curve = p.s * p.z * detail::asin_series(p.z);
  const T near_zero = detail::half_pi_hi<T> - (x - (detail::half_pi_lo<T> - detail::with_sign_of(curve, x)));
  const T near_one = 2 * (p.high + (curve + p.low));
  const T near_minus_one = 2 * (detail::half_pi_hi<T> - (p.s + (curve - detail::half_pi_lo<T>)));
  return detail::select(a < T(0.5), near_zero, detail::select(x < 0, near_minus_one, near_one));
}

template <std::floating_point T>
DRX_INLINE T atan(T x) {
  return detail::with_sign_of(detail::atan_of_positive(detail::magnitude(x)), x);
}

/// The angle of the point (x, y), in [-pi, pi]; at the origin and at infinity as in C.
template <std::floating_point T>
DRX_INLINE T atan2(T y, T x) {
  using U = detail::bits_t<T>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const T a = detail::magnitude(y), b = detail::magnitude(x);
  const T ratio = detail::select(a == b, detail::select(a == 0, T(0), T(1)), a / b);  // 0/0 and inf/inf
  const T angle = detail::atan_of_positive(ratio);
  const bool left = (detail::cast<U>(x) & detail::sign_bit<T>) != 0;
  const T turned = 2 * detail::half_pi_hi<T> - (angle - 2 * detail::half_pi_lo<T>);
  const bool ordered = (a <= inf) & (b <= inf);
  return detail::with_sign_of(detail::select(ordered, detail::select(left, turned, angle), a + b), y);
}

#endif

}  // namespace drx::math
