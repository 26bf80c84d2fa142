// drx/scalar/math.hpp: elementary functions without branches, tables or libm calls, so that a plain loop over them vectorises.
//
// Measured against long double: at most 2 ulp for float and double over the whole range, subnormals included; special
// values as in C (no errno, floating-point flags unspecified; rounding to nearest is assumed).
//
// Under -ffast-math finite results are right too, to about 4 ulp: rounding errors are read through as_rounded.
//
// Two rules keep the code vectorisable and its results independent of where the vectoriser put an element:
//  - selections are made on bits (select), because under the default -ftrapping-math g++ moves arithmetic into an arm
//    of a ?: and then refuses to if-convert it;
//  - every expression that may be contracted into a fused multiply-add is written as fma, so that -ffp-contract has no
//    choice.
#pragma once

#include <drx/config.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace drx::math {

/// sin, cos and tan are accurate for |x| <= sin_limit and NaN beyond; sin_of_any and its like are right everywhere,
/// with a branch.
inline constexpr double sin_limit = 131072;
template <std::floating_point T>
DRX_INLINE bool within_sin_limit(T x) {
  return std::fabs(x) <= T(sin_limit);
}

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)  // the device's own functions are as good and faster

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(exp)
DRX_FORWARD(exp2)
DRX_FORWARD(expm1)
DRX_FORWARD(log)
DRX_FORWARD(log1p)
DRX_FORWARD(tanh)
DRX_FORWARD(sin)
DRX_FORWARD(cos)
DRX_FORWARD(tan)
#undef DRX_FORWARD
template <std::floating_point T>
DRX_INLINE T sin_near(T x) {
  return std::sin(x);
}
template <std::floating_point T>
DRX_INLINE T cos_near(T x) {
  return std::cos(x);
}
template <std::floating_point T>
DRX_INLINE T tan_near(T x) {
  return std::tan(x);
}

template <std::floating_point T>
DRX_INLINE T sigmoid_begin(T x) {
  return std::exp(-std::fabs(x));
}
template <std::floating_point T>
DRX_INLINE T sigmoid_end(T z, T x) {
  return (x < 0 ? z : T(1)) / (1 + z);
}
template <std::floating_point T>
DRX_INLINE T sigmoid(T x) {
  return sigmoid_end(sigmoid_begin(x), x);
}
template <std::floating_point T>
DRX_INLINE T tanh_begin(T x) {
  return std::tanh(x);
}
template <std::floating_point T>
DRX_INLINE T tanh_end(T y, T) {
  return y;
}

#else

namespace detail {

template <class T>
struct format;

template <>
struct format<float> {
  using bits = std::uint32_t;
  static constexpr int mantissa = 23;
  static constexpr bits bias = 127;
  static constexpr float magic = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits
  static constexpr float ln2_hi = 0x1.62ep-1f, ln2_lo = 0x1.0bfbe8p-15f;
  static constexpr float exp_min = -104, exp_max = 89, expm1_min = -18, tanh_max = 10;
};

template <>
struct format<double> {
  using bits = std::uint64_t;
  static constexpr int mantissa = 52;
  static constexpr bits bias = 1023;
  static constexpr double magic = 0x1.8p52;
  static constexpr double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;
  static constexpr double exp_min = -746, exp_max = 710, expm1_min = -38, tanh_max = 20;
};

template <class T>
using bits_t = typename format<T>::bits;

template <class To, class From>
DRX_INLINE constexpr To cast(From x) {
  return __builtin_bit_cast(To, x);
}

/// x as it was rounded. With -ffast-math compilers add up in another order: to them (x + magic) - magic is x, and a
/// rounding error is 0. They do not look through bits that they cannot know. (Loops vectorise: the zero is read once.
/// g++ 12's vectoriser drops __builtin_assoc_barrier, and clang 14 does not vectorise __arithmetic_fence.)
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
[[gnu::used]] inline std::uint32_t no_bits_of_float = 0;
[[gnu::used]] inline std::uint64_t no_bits_of_double = 0;
template <class T>
DRX_INLINE T as_rounded(T x) {
  if constexpr (std::same_as<T, float>)
    return cast<T>(cast<bits_t<T>>(x) ^ no_bits_of_float);
  else
    return cast<T>(cast<bits_t<T>>(x) ^ no_bits_of_double);
}
#elif defined(__clang__) && __has_builtin(__arithmetic_fence) && \
    defined(__x86_64__)  // for parts of -ffast-math, for which clang has no macro
template <class T>
DRX_INLINE T as_rounded(T x) {
  return __arithmetic_fence(x);
}
#else
template <class T>
DRX_INLINE T as_rounded(T x) {
  return x;
}
#endif

/// yes where mask is all ones, no where it is zero.
template <class T>
DRX_INLINE constexpr T blend(bits_t<T> mask, T yes, T no) {
  using U = bits_t<T>;
  return cast<T>((cast<U>(yes) & mask) | (cast<U>(no) & ~mask));
}
template <class T>
DRX_INLINE constexpr T select(bool condition, T yes, T no) {
  return blend(bits_t<T>{0} - static_cast<bits_t<T>>(condition), yes, no);
}

/// 0 where the condition holds, else x. (What is so small that it rounds to 0 is made 0 by this: arithmetic that
/// underflows takes some processors a hundred cycles.)
template <class T>
DRX_INLINE constexpr T unless(bool condition, T x) {
  return cast<T>(cast<bits_t<T>>(x) & (static_cast<bits_t<T>>(condition) - 1));
}

template <class T>
inline constexpr bits_t<T> sign_bit = bits_t<T>{1} << (sizeof(T) * 8 - 1);

template <class T>
DRX_INLINE constexpr T magnitude(T x) {
  return cast<T>(cast<bits_t<T>>(x) & ~sign_bit<T>);
}

template <class T>
DRX_INLINE constexpr T with_sign_of(T x, T sign) {
  return cast<T>((cast<bits_t<T>>(x) & ~sign_bit<T>) | (cast<bits_t<T>>(sign) & sign_bit<T>));
}
/// x limited to [low, high]; NaN stays.
template <class T>
DRX_INLINE constexpr T clamp(T x, T low, T high) {
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

/// a * b + c, fused where the target fuses in one instruction; elsewhere nothing can be contracted, and it rounds
/// twice.
template <class T>
DRX_INLINE T fma(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  if constexpr (std::same_as<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <class T>
DRX_INLINE T horner(T, T c) {
  return c;
}
template <class T, class... C>
DRX_INLINE T horner(T x, T c0, T c1, C... c) {
  return fma(x, horner(x, c1, c...), c0);
}

/// P in e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2: minimax (Remez) for the relative error of expm1.
template <class T>
DRX_INLINE T exp_series(T r) {
  if constexpr (std::same_as<T, float>)
    return horner(r, 0.50000000465f, 0.16666666818f, 0.04166635416f, 0.00833327289f, 0.00139410504f, 0.00019914261f);
  else
    return horner(r, 0.5, 0.16666666666666676639, 0.041666666666666701787, 0.0083333333333215783367,
                  0.0013888888888866657868, 0.00019841269886266287934, 0.000024801587360873566846,
                  2.7557244061778923815e-6, 2.7557242510008704365e-7, 2.5109090490605079179e-8,
                  2.0924515921565005393e-9);
}

/// The reduction x = n ln 2 + r + lost.
template <class T>
struct exp_parts {
  T r, lost;
  bits_t<T> n;
};

template <class T>
DRX_INLINE exp_parts<T> exp_split(T x) {
  using F = format<T>;
  const T rounded = as_rounded(fma(x, T(1.4426950408889634074), F::magic)), n = as_rounded(rounded - F::magic);
  const T exact = as_rounded(fma(n, -F::ln2_hi, x)), r = as_rounded(fma(n, -F::ln2_lo, exact));
  return {r, as_rounded(fma(n, -F::ln2_lo, as_rounded(exact - r))),
          cast<bits_t<T>>(rounded) - cast<bits_t<T>>(F::magic)};
}

/// 2^n y with one rounding, also where the result is subnormal or overflows.
template <class T>
DRX_INLINE T scaled(T y, bits_t<T> n) {
  using F = format<T>;
  const bits_t<T> both = n + 2 * F::bias, half = both >> 1;
  return as_rounded(y * cast<T>(half << F::mantissa)) * cast<T>((both - half) << F::mantissa);
}

/// 2^n e^r
template <class T>
DRX_INLINE T exp_join(T r, bits_t<T> n) {
  return scaled(1 + fma(r * r, exp_series(r), r), n);
}

/// expm1(x) / 2: half, because 2^n itself overflows at the upper end of the range.
template <class T>
DRX_INLINE T half_expm1(T x) {
  using F = format<T>;
  const exp_parts<T> e = exp_split(x);
  const T q = e.r + fma(e.r * e.r, exp_series(e.r), e.lost);
  const T scale = cast<T>((e.n + (F::bias - 1)) << F::mantissa);
  return fma(scale, q, as_rounded(scale - T(0.5)));
}

/// expm1(2 x) / 2 for 0 <= x <= tanh_max, by e^(2 r) = 1 + 2 r + 2 r^2 P(r), 2 x = n ln 2 + 2 r.
template <class T>
DRX_INLINE T half_expm1_twice(T x) {
  using F = format<T>;
  const T rounded = as_rounded(fma(x, T(2 * 1.4426950408889634074), F::magic)), n = as_rounded(rounded - F::magic);
  const T exact = as_rounded(fma(n, -F::ln2_hi / 2, x)), r = as_rounded(fma(n, -F::ln2_lo / 2, exact));
  const T r2 = r * r;
  T q;
  if constexpr (std::same_as<T, float>) {
    q = fma(r2, horner(r, 0.99999996266f, 0.66666170738f, 0.33333763136f, 0.13386634875f, 0.044423991728f), r);
  } else {  // Estrin's scheme: a third of Horner's chain
    const T r4 = r2 * r2;
    const T low = fma(r2, horner(r, 0.3333333333333336, 0.13333333333314526), horner(r, 1.0, 0.6666666666666671));
    const T middle = fma(r2, horner(r, 0.0031746031821918166, 0.0007054654479815405),
                         horner(r, 0.04444444444437331, 0.012698412727210425));
    const T high = horner(r, 0.00014109308165124456, 2.57117086623796e-05, 4.285340860736513e-06);
    q = r + fma(r2, fma(r4, fma(r4, high, middle), low), as_rounded(fma(n, -F::ln2_lo / 2, as_rounded(exact - r))));
  }
  const T scale = cast<T>((cast<bits_t<T>>(rounded) << F::mantissa) + (F::bias << F::mantissa));
  return fma(scale, q, as_rounded(fma(scale, T(0.5), T(-0.5))));
}

/// The decomposition x = 2^k m, sqrt(1/2) <= m < sqrt(2), for normal x > 0.
template <class T>
struct log_parts {
  T k, m;
};

template <class T>
DRX_INLINE log_parts<T> log_split(T x) {
  using F = format<T>;
  using U = bits_t<T>;
  constexpr U one = F::bias << F::mantissa, root = cast<U>(T(0.70710678118654752440));
  constexpr T integers = T(U{1} << F::mantissa);  // or-ing an integer into its low bits adds it
  const U shifted = cast<U>(x) + (one - root);
  const T k = cast<T>((shifted >> F::mantissa) | cast<U>(integers)) - (integers + T(F::bias));
  return {k, cast<T>((shifted & ((U{1} << F::mantissa) - 1)) + root)};
}

/// k ln 2 + log(1 + f) + correction, by the series of atanh(s), s = f / (2 + f).
template <class T>
DRX_INLINE T log_join(T k, T f, T correction) {
  using F = format<T>;
  const T s = f / (2 + f), z = s * s, half_f = T(0.5) * f;
  T p;
  if constexpr (std::same_as<T, float>)
    p = horner(z, 0.66666665641f, 0.40000336202f, 0.28537239477f, 0.23583547261f);
  else
    p = horner(z, 0.66666666666667348919, 0.39999999999411108185, 0.28571428743260394297, 0.22222198476120887193,
               0.18183569737550058136, 0.15313903190358410786, 0.14797509333985994349);
  const T tail = as_rounded(fma(s, fma(half_f, f, z * p), fma(k, F::ln2_lo, correction)));
  return fma(k, F::ln2_hi, f - fma(half_f, f, -tail));
}

/// `result` where 0 < x < inf; log's special values elsewhere.
template <class T>
DRX_INLINE T log_special(T result, T x) {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  return select(x > 0, select(x < inf, result, x), select(x == 0, -inf, select(x < 0, nan, x)));
}

/// r and the quadrant n of x = n pi / 2 + r, |x| <= sin_limit: pi / 2 in parts whose products with n are exact.
template <class T>
struct quadrant {
  T r, tail;
  bits_t<T> n;
};

template <class T>
DRX_INLINE quadrant<T> reduce_quadrant(T x) {
  using F = format<T>;
  constexpr double p1 = 0x1.921fb544p+0, p2 = 0x1.0b4611a6p-34, p3 = 0x1.3198a2ep-69, p4 = 0x1.b839a252049c1p-104;
  const T rounded = as_rounded(fma(x, T(0.63661977236758134308), F::magic));
  const bits_t<T> n = cast<bits_t<T>>(rounded) - cast<bits_t<T>>(F::magic);
  const double m = static_cast<double>(as_rounded(rounded - F::magic));
  const double r1 = as_rounded(fma(-m, p1, static_cast<double>(x)));
  if constexpr (std::same_as<T, float>) {
    const double r = fma(-m, p2 + p3, r1);
    return {static_cast<float>(r), static_cast<float>(r - static_cast<double>(static_cast<float>(r))), n};
  } else {
    const double r2 = as_rounded(fma(-m, p2, r1)), e2 = as_rounded(fma(-m, p2, as_rounded(r1 - r2)));
    const double r3 = as_rounded(fma(-m, p3, r2)), e3 = as_rounded(fma(-m, p3, as_rounded(r2 - r3)));
    const double tail = as_rounded(fma(-m, p4, e2 + e3));
    const double r = as_rounded(r3 + tail);
    return {r, as_rounded(as_rounded(r3 - r) + tail), n};
  }
}

/// sin and cos of x >= 0 up to quadrants: of r where x = n pi / 2 + r.
template <class T>
struct turned {
  T s, c, tail;  // tail: the part of r that s and c leave out
  bits_t<T> n;
};

template <class T>
DRX_INLINE turned<T> sin_and_cos(T x) {
  const quadrant<T> q = reduce_quadrant(x);
  const T r = q.r, z = r * r;
  const T w = as_rounded(fma(z, T(-0.5), T(1))), lost = as_rounded(fma(z, T(-0.5), as_rounded(1 - w)));
  T s, c;
  if constexpr (std::same_as<T, float>) {
    s = fma(z * r, horner(z, -0.16666666637f, 0.00833332889f, -0.00019839176f, 2.71681066e-6f), r);
    c = w + fma(z, z * horner(z, 0.041666666615f, -0.00138888831f, 0.0000247993504f, -2.71963075e-7f), lost);
  } else {
    s = r + fma(z * r,
                horner(z, -0.16666666666666666633, 0.0083333333333333200142, -0.00019841269841251921357,
                       2.755731921255484031e-6, -2.5052104485247256891e-8, 1.6058312335166117827e-10,
                       -7.5760102737155167729e-13),
                q.tail);
    c = w + fma(z,
                z * horner(z, 0.041666666666666666598, -0.0013888888888888870274, 0.000024801587301568093161,
                           -2.7557319213922533876e-7, 2.087675404090272368e-9, -1.1470256608904354318e-11,
                           4.7364675287465584959e-14),
                fma(-r, q.tail, lost));
  }
  return {s, c, std::same_as<T, float> ? q.tail : T(0), q.n};
}

/// sin(x + turn pi / 2) for x >= 0: sin for turn = 0, cos for turn = 1.
template <class T>
DRX_INLINE T sin_turned(T x, bits_t<T> turn) {
  using U = bits_t<T>;
  const turned<T> t = sin_and_cos(x);
  const U n = t.n + turn;
  const T unsigned_result = blend(U{0} - (n & 1), t.c, t.s);
  return cast<T>(cast<U>(unsigned_result) ^ ((n << (sizeof(T) * 8 - 2)) & sign_bit<T>));
}

/// sin; NaN beyond sin_limit.
template <class T>
DRX_INLINE T in_sin_limit(T x, T result) {
  return select(magnitude(x) <= T(sin_limit), result, std::numeric_limits<T>::quiet_NaN());
}

}  // namespace detail

template <std::floating_point T>
DRX_INLINE T exp(T x) {
  using F = detail::format<T>;
  const bool vanishes = x < F::exp_min;
  const auto e = detail::exp_split(detail::select(vanishes, T(0), detail::select(x > F::exp_max, F::exp_max, x)));
  return detail::unless(vanishes, detail::exp_join(e.r, e.n));
}

template <std::floating_point T>
DRX_INLINE T exp2(T x) {
  using F = detail::format<T>;
  const bool vanishes = x < -T(F::bias + F::mantissa);
  x = detail::select(vanishes, T(0), detail::select(x > T(F::bias + 1), T(F::bias + 1), x));
  const T rounded = detail::as_rounded(x + F::magic),
          r = (x - detail::as_rounded(rounded - F::magic)) * T(0.69314718055994530942);
  using U = detail::bits_t<T>;
  return detail::unless(vanishes, detail::exp_join(r, detail::cast<U>(rounded) - detail::cast<U>(F::magic)));
}

template <std::floating_point T>
DRX_INLINE T expm1(T x) {
  using F = detail::format<T>;
  const T result = 2 * detail::half_expm1(detail::clamp(x, F::expm1_min, F::exp_max));
  return detail::select(detail::magnitude(x) < std::numeric_limits<T>::epsilon() / 4, x, result);  // -0, subnormals
}

template <std::floating_point T>
DRX_INLINE T log(T x) {
  using F = detail::format<T>;
  const bool subnormal = x < std::numeric_limits<T>::min();
  constexpr T lift = F::mantissa + 2, scale = T(std::uint64_t{1} << (F::mantissa + 2));
  const auto [k, m] = detail::log_split(detail::select(subnormal, x * scale, x));
  return detail::log_special(detail::log_join(k - detail::select(subnormal, lift, T(0)), m - 1, T(0)), x);
}

template <std::floating_point T>
DRX_INLINE T log1p(T x) {
  const T u = detail::as_rounded(1 + x);
  const auto [k, m] = detail::log_split(u);
  const T lost =
      detail::select(x > 1, 1 - detail::as_rounded(u - x), x - detail::as_rounded(u - 1));  // u + lost = 1 + x exactly
  const bool near = k == 0;
  const T f = detail::select(near, x, m - 1), correction = detail::select(near, T(0), lost / u);
  return detail::with_sign_of(detail::log_special(detail::log_join(k, f, correction), u), x);
}

// tanh in two halves, for fused loops that do each half for many numbers (run/fused/elements.hpp).
template <std::floating_point T>
DRX_INLINE T tanh_begin(T x) {
  const T a = detail::magnitude(x), limit = detail::format<T>::tanh_max;
  return detail::half_expm1_twice(detail::select(a > limit, limit, a));
}
template <std::floating_point T>
DRX_INLINE T tanh_end(T h, T x) {
  const T m = detail::select(h < 1, h, T(1));  // h / (h + 1), exacter: h - h^2 / (h + 1), or 1 - 1 / (h + 1)
  return detail::with_sign_of(detail::fma(-m, m / (h + 1), m), x);
}
template <std::floating_point T>
DRX_INLINE T tanh(T x) {
  return tanh_end(tanh_begin(x), x);
}

template <std::floating_point T>
DRX_INLINE T sigmoid_begin(T x) {
  return drx::math::exp(-detail::magnitude(x));  // at most 1, so that neither side overflows
}
template <std::floating_point T>
DRX_INLINE T sigmoid_end(T z, T x) {
  const T quotient = detail::select(x < 0, z, T(1)) / (1 + z);
  return detail::select(x < 0, detail::fma(-z, quotient, z), quotient);  // z - z q = q, exacter
}
template <std::floating_point T>
DRX_INLINE T sigmoid(T x) {
  return sigmoid_end(sigmoid_begin(x), x);
}

// tan for |x| <= sin_limit; meaningless beyond.
template <std::floating_point T>
DRX_INLINE T sin_near(T x) {
  using U = detail::bits_t<T>;
  const T result = detail::sin_turned(detail::magnitude(x), U{0});
  return detail::cast<T>(detail::cast<U>(result) ^ (detail::cast<U>(x) & detail::sign_bit<T>));
}

template <std::floating_point T>
DRX_INLINE T cos_near(T x) {
  return detail::sin_turned(detail::magnitude(x), detail::bits_t<T>{1});
}

template <std::floating_point T>
DRX_INLINE T tan_near(T x) {
  using U = detail::bits_t<T>;
  const T a = detail::magnitude(x);
  const detail::turned<T> t = detail::sin_and_cos(a);
  const U odd = U{0} - (t.n & 1);
  const T quotient = detail::blend(odd, t.c, t.s) / detail::blend(odd, t.s, t.c);  // -c / s in odd quadrants
  const T turned = detail::cast<T>(detail::cast<U>(quotient) ^ (odd & detail::sign_bit<T>));
  const T exact = detail::fma(t.tail, detail::fma(turned, turned, T(1)), turned);
  return detail::cast<T>(detail::cast<U>(exact) ^ (detail::cast<U>(x) & detail::sign_bit<T>));
}

template <std::floating_point T>
DRX_INLINE T sin(T x) {
  return detail::in_sin_limit(x, sin_near(x));
}
template <std::floating_point T>
DRX_INLINE T cos(T x) {
  return detail::in_sin_limit(x, cos_near(x));
}
template <std::floating_point T>
DRX_INLINE T tan(T x) {
  return detail::in_sin_limit(x, tan_near(x));
}

#endif

/// `yes` where the condition holds, else `no`.
template <std::floating_point T>
DRX_INLINE constexpr T chosen(bool condition, T yes, T no) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return condition ? yes : no;
#else
  return detail::select(condition, yes, no);
#endif
}
/// x y, but 0 where a factor is 0, also beside infinity and NaN.
template <std::floating_point T>
DRX_INLINE T azmul(T x, T y) {
  return chosen((x != 0) & (y != 0), x * y, T(0));
}
/// x / y, but 0 where x is 0, also over 0 and NaN.
template <std::floating_point T>
DRX_INLINE T azdiv(T x, T y) {
  return chosen(x != 0, x / y, T(0));
}

// sqrt is one instruction, and vectorises under -fno-math-errno only.
template <std::floating_point T>
DRX_INLINE T abs(T x) {
  return std::fabs(x);
}
template <std::floating_point T>
DRX_INLINE T sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
DRX_INLINE T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
// Whole numbers near x, with its sign, that of zeros too. (Compilers have one instruction for single numbers, but g++
// none for vectors as long as floating-point operations may trap.)
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
template <std::floating_point T>
DRX_INLINE T floor(T x) {
  return std::floor(x);
}
template <std::floating_point T>
DRX_INLINE T ceil(T x) {
  return std::ceil(x);
}
template <std::floating_point T>
DRX_INLINE T trunc(T x) {
  return std::trunc(x);
}
template <std::floating_point T>
DRX_INLINE T round(T x) {
  return std::nearbyint(x);
}
#else
namespace detail {
/// Numbers from this one on are whole.
template <std::floating_point T>
inline constexpr T first_whole = T(std::uint64_t{1} << format<T>::mantissa);
/// The nearest whole number, with x's sign, of an x below that; of two equally near, the even one.
template <std::floating_point T>
DRX_INLINE T nearest_whole(T x) {
  return with_sign_of(as_rounded(as_rounded(magnitude(x) + first_whole<T>) - first_whole<T>), x);
}
/// `whole`, with x's sign, of an x below that; all others are whole.
template <std::floating_point T>
DRX_INLINE T if_not_whole(T whole, T x) {
  return select(magnitude(x) < first_whole<T>, with_sign_of(whole, x), x);
}
}  // namespace detail
template <std::floating_point T>
DRX_INLINE T floor(T x) {
  const T near = detail::nearest_whole(x);
  return detail::if_not_whole(detail::select(near > x, near - 1, near), x);
}
template <std::floating_point T>
DRX_INLINE T ceil(T x) {
  const T near = detail::nearest_whole(x);
  return detail::if_not_whole(detail::select(near < x, near + 1, near), x);
}
template <std::floating_point T>
DRX_INLINE T trunc(T x) {
  const T size = detail::magnitude(x), near = detail::nearest_whole(size);
  return detail::if_not_whole(detail::select(near > size, near - 1, near), x);
}
/// Of two equally near, the even one.
template <std::floating_point T>
DRX_INLINE T round(T x) {
  return detail::if_not_whole(detail::nearest_whole(x), x);
}
#endif

template <std::floating_point T>
DRX_INLINE T sin_of_any(T x) {
  return within_sin_limit(x) ? drx::math::sin(x) : std::sin(x);
}
template <std::floating_point T>
DRX_INLINE T cos_of_any(T x) {
  return within_sin_limit(x) ? drx::math::cos(x) : std::cos(x);
}
template <std::floating_point T>
DRX_INLINE T tan_of_any(T x) {
  return within_sin_limit(x) ? drx::math::tan(x) : std::tan(x);
}

/// x y + z, rounded once where the target has an instruction for it.
template <std::floating_point T>
DRX_INLINE T fma(T x, T y, T z) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return std::fma(x, y, z);
#else
  return detail::fma(x, y, z);
#endif
}

/// Whether fmod_near is right: always where nothing is fused, since it is libm's function there.
template <std::floating_point T>
DRX_INLINE bool within_fmod_limit(T x, T y) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  const T limit =
      detail::format<T>::magic / 12;  // 2^20 or 2^49: then x / y may be off by a few units in the last place
  return (std::fabs(x) < limit * std::fabs(y)) & (std::fabs(y) <= std::numeric_limits<T>::max());
#else
  (void)x, (void)y;
  return true;
#endif
}
/// fmod, to the last bit. With n an integer near x / y, x - n y is a multiple of the last place of y (or is x itself)
/// and less than |y|, so that one fused step gives it exactly; the remainder is that, or that and |y|, which is a
/// number again.
template <std::floating_point T>
DRX_INLINE T fmod_near(T x, T y) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  const T magic = detail::format<T>::magic, n = detail::as_rounded(detail::as_rounded(x / y + magic) - magic);
  const T r = detail::fma(-n, y, x), above = r + detail::with_sign_of(y, x);
  return detail::with_sign_of(detail::select(((r < 0) != (x < 0)) & (r != 0), above, r), x);
#else
  return std::fmod(x, y);
#endif
}

}  // namespace drx::math
