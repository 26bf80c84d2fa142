// drx/scalar/pow.hpp: powers, by the rules of math.hpp. Measured: at most 0.51 ulp for float and 0.75 for double, 1.3 where
// that is subnormal.
#pragma once

#include <drx/scalar/math.hpp>

namespace drx::math {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
namespace detail {

/// high + low, the high part being the sum rounded.
struct two_doubles {
  double high, low;
};
/// x + y, for |x| >= |y| or x = 0.
DRX_INLINE two_doubles sum_exact(double x, double y) {
  const double sum = as_rounded(x + y);
  return {sum, as_rounded(as_rounded(x - sum) + y)};
}

/// log(x) for x > 0 with an error of less than 2^-64 of it: k ln 2 + 2 atanh(s), s = (m - 1) / (m + 1). Of the series
/// 1 + z / 3 + z^2 / 5 + ..., z = s^2, all behind the second term is a minimax polynomial (Remez).
template <std::same_as<double> T>  // a template: compiled where it is used
DRX_INLINE two_doubles log_exact(T x) {
  using F = format<double>;
  constexpr double lift = 54, scale = double(std::uint64_t{1} << 54);
  const bool subnormal = x < std::numeric_limits<double>::min();
  const auto [exponent, m] = log_split(select(subnormal, x * scale, x));
  const double k = exponent - select(subnormal, lift, 0.0);
  const auto [below, rest] = sum_exact(1.0, m);  // (m < 2: m + 1 rounds half a unit of m away at most)
  const double f = m - 1, inverse = 1 / below, s = as_rounded(f * inverse);
  const double s_low = fma(-s, rest, fma(-s, below, f)) * inverse;
  const double z = as_rounded(s * s), z_low = fma(2 * s, s_low, as_rounded(fma(s, s, -z)));
  constexpr double third = 1.0 / 3, third_low = 0x1.5555555555555p-56;
  const double a = as_rounded(z * third);
  const double a_low =
      fma(z_low, fma(z, 0.4, third), fma(z, third_low, as_rounded(fma(z, third, -a))));  // (and z^2 / 5's)
  const double square = z * z;
  const double tail =
      horner(z, 0.19999999999999988745, 0.14285714285722555758, 0.11111111108768237944, 0.090909094351569924483,
             0.07692278435506132278, 0.066681587096926924222, 0.058374092423365104990, 0.059945067308186588063);
  const double q = as_rounded(fma(square, tail, a)), q_low = fma(square, tail, as_rounded(a - q));
  const double twice = 2 * s, t = as_rounded(twice * q);
  const double t_low = fma(twice, q_low + a_low, fma(2 * s_low, 1 + q, as_rounded(fma(twice, q, -t))));
  const auto [l, l_low] = sum_exact(twice, t);
  const auto [high, low] = sum_exact(k * F::ln2_hi, l);
  return sum_exact(high, low + fma(k, F::ln2_lo, l_low + t_low));
}
/// e^(high + low)
template <std::same_as<double> T>
DRX_INLINE T exp_of(two_doubles x) {
  using F = format<T>;
  const double most = F::exp_max;
  const bool vanishes = x.high < F::exp_min;
  const bool overflows = x.high > most;
  const exp_parts<double> e = exp_split(select(vanishes, 0.0, select(overflows, most, x.high)));
  const auto [r, low] = sum_exact(e.r, e.lost + unless(vanishes | overflows, x.low));
  const auto [one, rest] = sum_exact(1.0, r);
  return unless(vanishes, scaled(one + (rest + fma(r * r, exp_series(r), low)), e.n));
}

/// Whether a number without a sign is whole; each is from 2^52 on.
DRX_INLINE bool is_whole(double a) {
  constexpr double integers = double(std::uint64_t{1} << 52);
  return (a >= integers) | (as_rounded(as_rounded(a + integers) - integers) == a);
}
/// The power of |x| as C has it for x.
template <class T>
DRX_INLINE T power_of(double magnitude_power, T x, T y) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double of = x, to = y, a = magnitude(to);
  constexpr double even = double(std::uint64_t{1} << 53);  // as is each number that is larger
  const bool whole = is_whole(a), odd = whole & (a < even) & !is_whole(a / 2);
  double r = select(odd, with_sign_of(magnitude_power, of), magnitude_power);
  r = select((of < 0) & (of > -inf) & !whole, nan, r);
  return static_cast<T>(select((to == 0) | (of == 1) | ((of == -1) & (a == inf)), 1.0, r));
}

}  // namespace detail
#endif

/// x to the power y, with C's special values: exp(y log |x|) with the sign of an odd power. Of floats that is computed
/// in doubles, of doubles in twice as many digits, which takes a fused operation: where there is none, it is libm's.
template <std::floating_point T>
DRX_INLINE T pow(T x, T y) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::same_as<T, float>) {
    const double of = x, to = y;
    const double p = to * drx::math::log(detail::magnitude(of));
    const bool vanishes = p < -104;  // as a float
    return detail::power_of(detail::unless(vanishes, drx::math::exp(detail::select(vanishes, 0.0, p))), x, y);
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  } else if constexpr (std::same_as<T, double>) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const double a = detail::magnitude(x);
    auto [l, l_low] = detail::log_exact(a);
    const bool ordinary = (a > 0) & (a < inf);
    l = detail::select(ordinary, l, detail::select(a == 0, -inf, a));
    l_low = detail::unless(!ordinary, l_low);
    const double p = detail::as_rounded(y * l);
    return detail::power_of(detail::exp_of<T>({p, detail::fma(y, l_low, detail::as_rounded(detail::fma(y, l, -p)))}), x,
                            y);
#endif
  }
#endif
  return std::pow(x, y);
}

}  // namespace drx::math
