// drx/run/packs/tanh.hpp: tanh of packs, on targets with AVX-512 (g++ alone) or with AVX2 and fused multiply-adds.
//
// AVX-512 has packs of 16 floats or 8 doubles, and permutes them by number. For floats the range is cut into 16 pieces,
// and each coefficient of their polynomials is one register. There is no division and no exponential; the error is
// below 1.2 ulp. Doubles would need polynomials of degree 13 there. They take e^2x from a table of 2^(j / 16) in two
// registers, which leaves a short polynomial, and one division; the error is below 2 ulp.
//
// AVX2 has too few registers for such tables. There packs go through the operations of drx::math::tanh, so that a
// number has the same bits in a pack as in a loop over single numbers; the error is below 2 ulp.
// Tested by tests/unit/run/pack_tanh.cpp.
#pragma once

#include <drx/run/packs/pack.hpp>
#include <drx/scalar/math.hpp>

#include <cstdint>
#include <type_traits>

namespace drx::run {

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
template <class T>
inline constexpr bool has_pack_tanh = std::is_same_v<T, float> || std::is_same_v<T, double>;
/// How many packs are fastest together.
inline constexpr int packs_of_tanh = 1;

namespace detail {

// The pieces divide 1 + 1.65625 |x|, from 1 to 16, by its exponent and two bits of its mantissa, four to an octave; the
// first is number 12. tanh x = c0 + c1 t + ... + c5 t^5, t = x - center, by least squares of the relative error,
// weighted until it is even. The center is where c0 is exact, or nearly; in the first piece both are 0, so that small x
// keep their relative precision. At the limit the value is 1.
inline constexpr float tanh_limit = 9.05f, tanh_scale = 1.65625f;
alignas(64) inline constexpr float tanh_center[16] = {0x1.826c8p-1f,
                                                      0x1.0e7d5cp+0f,
                                                      0x1.5bc8bcp+0f,
                                                      0x1.a91094p+0f,
                                                      0x1.0e7c8cp+1f,
                                                      0x1.5bc504p+1f,
                                                      0x1.a9119ep+1f,
                                                      0x1.f6572p+1f,
                                                      0x1.3523p+2f,
                                                      0x1.8271ep+2f,
                                                      0x1.cfdadap+2f,
                                                      0x1.0a2b24p+3f,
                                                      0,
                                                      0x1.cfb0aap-3f,
                                                      0x1.826a8cp-2f,
                                                      0x1.0e7b9ep-1f};
alignas(64) inline constexpr float tanh_c0[16] = {0x1.46a35p-1f,
                                                  0x1.919788p-1f,
                                                  0x1.c089e6p-1f,
                                                  0x1.dc4ca6p-1f,
                                                  0x1.f1425ap-1f,
                                                  0x1.fb8c72p-1f,
                                                  0x1.feaa66p-1f,
                                                  0x1.ff99c6p-1f,
                                                  0x1.ffef4ap-1f,
                                                  0x1.fffe82p-1f,
                                                  0x1.ffffdep-1f,
                                                  0x1.fffffcp-1f,
                                                  0,
                                                  0x1.c7ed1p-3f,
                                                  0x1.710fe6p-2f,
                                                  0x1.efb02cp-2f};
alignas(64) inline constexpr float tanh_c1[16] = {0x1.2f9dd6p-1f,  0x1.8a03eep-2f,  0x1.dc3a2p-3f,   0x1.13a5bep-3f,
                                                  0x1.d0ea58p-5f,  0x1.1ba684p-6f,  0x1.552826p-8f,  0x1.98bf5p-10f,
                                                  0x1.0b61e4p-12f, 0x1.7e08a8p-16f, 0x1.100756p-19f, 0x1.ffc34cp-23f,
                                                  0x1p+0f,         0x1.e6a01cp-1f,  0x1.bd7e26p-1f,  0x1.8806a8p-1f};
alignas(64) inline constexpr float tanh_c2[16] = {
    -0x1.8364a6p-2f, -0x1.350ddp-2f,   -0x1.a1347ap-3f,  -0x1.006dc2p-3f,  -0x1.c3840ep-5f,  -0x1.192698p-6f,
    -0x1.543788p-8f, -0x1.985d1ap-10f, -0x1.0a9e5ep-12f, -0x1.7cfb54p-16f, -0x1.0f47b6p-19f, -0x1.ff837p-23f,
    0x1.2d0932p-20f, -0x1.b1541ep-3f,  -0x1.411fp-2f,    -0x1.7b8928p-2f};
alignas(64) inline constexpr float tanh_c3[16] = {0x1.65c3ecp-5f,  0x1.bc486cp-4f,  0x1.9d820ap-4f,  0x1.2555fep-4f,
                                                  0x1.1b954p-5f,   0x1.7058ccp-7f,  0x1.c341a6p-9f,  0x1.0fd0eep-10f,
                                                  0x1.63583cp-13f, 0x1.fbd986p-17f, 0x1.6984c2p-20f, 0x1.59759ap-23f,
                                                  -0x1.5563b6p-2f, -0x1.143038p-2f, -0x1.6a869cp-3f, -0x1.3685fap-4f};
alignas(64) inline constexpr float tanh_c4[16] = {
    0x1.92506ep-4f,   0x1.085eb4p-6f,   -0x1.4a72ccp-6f,  -0x1.95eb6ap-6f,  -0x1.f5aa32p-7f,  -0x1.682db6p-8f,
    -0x1.c5ba18p-10f, -0x1.138beap-11f, -0x1.7ce702p-14f, -0x1.106444p-17f, -0x1.83f00ep-21f, -0x1.62c6dap-24f,
    0x1.d57d9p-11f,   0x1.0a5628p-3f,   0x1.579e04p-3f,   0x1.477328p-3f};
alignas(64) inline constexpr float tanh_c5[16] = {-0x1.02a0c4p-4f, -0x1.46e96ap-5f, -0x1.60163cp-7f, 0x1.196c92p-9f,
                                                  0x1.24e48p-8f,   0x1.0a6daep-9f,  0x1.62f976p-11f, 0x1.b5e414p-13f,
                                                  0x1.301d4ep-15f, 0x1.b3c828p-19f, 0x1.37969ap-22f, 0x1.bda63ap-26f,
                                                  0x1.06b6a6p-3f,  0x1.5263b8p-4f,  0x1.2c55a6p-6f,  -0x1.1ca32ap-5f};

/// table[number modulo 16] in each lane.
template <class Numbers>
DRX_HOST_INLINE pack<float> looked_up(const float* table, Numbers number) {
  return __builtin_shuffle(load(table), number);
}

}  // namespace detail

DRX_HOST_INLINE pack<float> pack_tanh(pack<float> x) {
  using bits = int __attribute__((vector_size(vector_bytes)));
  const bits all{}, sign = all + static_cast<int>(0x80000000U);
  const pack<float> magnitude = reinterpret_cast<pack<float>>(reinterpret_cast<bits>(x) & ~sign);
  // the smaller one; a NaN stays
  const pack<float> a =
      __builtin_ia32_minps512_mask(detail::tanh_limit - pack<float>{}, magnitude, magnitude, static_cast<short>(-1), 4);
  const bits piece = reinterpret_cast<bits>(a * detail::tanh_scale + 1.0f) >> 21;
  const pack<float> t = a - detail::looked_up(detail::tanh_center, piece);
  pack<float> y = detail::looked_up(detail::tanh_c5, piece);
  y = y * t + detail::looked_up(detail::tanh_c4, piece);
  y = y * t + detail::looked_up(detail::tanh_c3, piece);
  y = y * t + detail::looked_up(detail::tanh_c2, piece);
  y = y * t + detail::looked_up(detail::tanh_c1, piece);
  y = y * t + detail::looked_up(detail::tanh_c0, piece);
  return reinterpret_cast<pack<float>>(reinterpret_cast<bits>(y) | (reinterpret_cast<bits>(x) & sign));
}

namespace detail {

// 2^(j / 16) / 2, with j 2^48 subtracted from its bits: adding n 2^48, where n modulo 16 = j, then makes it 2^(n / 16)
// / 2. And its rounding error, relative to it, less 2 j times the rounding error of `step`.
alignas(64) inline constexpr double half_power[16] = {0x1p-1,
                                                      0x1.fb5586cf9890fp-2,
                                                      0x1.f72b83c7d517bp-2,
                                                      0x1.f387a6e756238p-2,
                                                      0x1.f06fe0a31b715p-2,
                                                      0x1.edea64c123422p-2,
                                                      0x1.ebfdad5362a27p-2,
                                                      0x1.eab07dd485429p-2,
                                                      0x1.ea09e667f3bcdp-2,
                                                      0x1.ea11473eb0187p-2,
                                                      0x1.eace5422aa0dbp-2,
                                                      0x1.ec49182a3f09p-2,
                                                      0x1.ee89f995ad3adp-2,
                                                      0x1.f199bdd85529cp-2,
                                                      0x1.f5818dcfba487p-2,
                                                      0x1.fa4afa2a490dap-2};
alignas(64) inline constexpr double power_lacks[16] = {0,
                                                       0x1.72fb3e496956cp-54,
                                                       -0x1.1c6dfce592b4cp-55,
                                                       0x1.54e2678e1f691p-54,
                                                       0x1.febc30c92f75cp-56,
                                                       0x1.171cfede95063p-55,
                                                       0x1.91426ca8a3f31p-57,
                                                       0x1.aee8127441405p-55,
                                                       -0x1.70b8386c55230p-54,
                                                       -0x1.51e7add4efea0p-55,
                                                       0x1.55c3e4f6ef2a1p-55,
                                                       -0x1.63613a4b74082p-61,
                                                       0x1.213bc3c95a36fp-55,
                                                       -0x1.25492fb7d5c02p-59,
                                                       -0x1.60c266caa4480p-59,
                                                       -0x1.63fbe5dcb4307p-54};

/// table[number modulo 16] in each lane.
template <class Numbers>
DRX_HOST_INLINE pack<double> looked_up(const double* table, Numbers number) {
  return __builtin_shuffle(load(table), load(table + 8), number);
}
/// x as it was rounded: see drx/scalar/math.hpp.
DRX_HOST_INLINE pack<double> as_rounded(pack<double> x) {
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
  using bits = long long __attribute__((vector_size(vector_bytes)));
  return reinterpret_cast<pack<double>>(reinterpret_cast<bits>(x) ^
                                        static_cast<long long>(drx::math::detail::no_bits_of_double));
#else
  return x;
#endif
}
/// The smaller number; a NaN in x stays.
DRX_HOST_INLINE pack<double> smaller(double limit, pack<double> x) {
  return __builtin_ia32_minpd512_mask(limit - pack<double>{}, x, x, static_cast<char>(-1), 4);
}

}  // namespace detail

// h = expm1(2 |x|) / 2, then h / (h + 1), more exactly: h - h^2 / (h + 1), or 1 - 1 / (h + 1).
DRX_HOST_INLINE pack<double> pack_tanh(pack<double> x) {
  using bits = long long __attribute__((vector_size(vector_bytes)));
  constexpr double step = 0x1.62e42fefa39efp-6, steps = 0x1.71547652b82fep+5;  // ln 2 / 32
  constexpr double magic = 0x1.8p52;  // adding it leaves the integer in the low bits
  const bits all{}, sign = all + static_cast<long long>(1ULL << 63);
  const pack<double> a = detail::smaller(20, reinterpret_cast<pack<double>>(reinterpret_cast<bits>(x) & ~sign));
  // a = n step + r with r >= 0 (rounding is towards zero): all terms have one sign, and nothing cancels.
  const pack<double> rounded =
      __builtin_ia32_vfmaddpd512_mask(a, steps - pack<double>{}, magic - pack<double>{}, static_cast<char>(-1), 11);
  const bits number = reinterpret_cast<bits>(detail::as_rounded(rounded));
  const pack<double> n = detail::as_rounded(detail::as_rounded(rounded) - magic), r = detail::as_rounded(a - n * step),
                     r2 = r * r;
  // e^2r = 1 + 2 r + r^2 P(r), minimax
  const pack<double> low = 0x1.555555555aca6p+0 * r + 0x1.fffffffffffe7p+0,
                     middle = 0x1.11111eb7448d7p-2 * r + 0x1.555555489a4e9p-1,
                     high = 0x1.a7f7ffe49a615p-6 * r + 0x1.6c07f7e2d747fp-4;
  const pack<double> series = (high * r2 + middle) * r2 + low;
  const pack<double> power = reinterpret_cast<pack<double>>(
      reinterpret_cast<bits>(detail::looked_up(detail::half_power, number)) + (number << 48));
  const pack<double> q = (r + r) + (series * r2 + detail::looked_up(detail::power_lacks, number));
  const pack<double> h = power * q + detail::as_rounded(power - 0.5), m = detail::smaller(1, h);
  const pack<double> y = m - m * (m / (h + 1.0));
  return reinterpret_cast<pack<double>>(reinterpret_cast<bits>(y) | (reinterpret_cast<bits>(x) & sign));
}

/// tanh of each pack.
template <class T, int Count>
DRX_HOST_INLINE void tanh_of_packs(pack<T> (&x)[Count]) {
  DRX_UNROLL
  for (int k = 0; k < Count; ++k) x[k] = pack_tanh(x[k]);
}

#elif defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__) && defined(__GNUC__) && !defined(__CUDACC__)
template <class T>
inline constexpr bool has_pack_tanh = std::is_same_v<T, float> || std::is_same_v<T, double>;
/// How many packs are fastest together. tanh is a long chain of operations; a processor that waits for one of them
/// finds others where packs take turns. (A float takes 0.39 ns pack by pack and 0.34 in fours, a double 1.30 and 1.11.)
inline constexpr int packs_of_tanh = 4;

namespace detail {

/// Instructions for packs of one type. (Compilers may contract a * b + c or not, on which no bits must depend. Later
/// versions of clang have them by other names than g++.)
template <class T>
struct pack_instructions {
  static constexpr bool in_floats = std::is_same_v<T, float>;
  typedef std::conditional_t<in_floats, std::uint32_t, std::uint64_t> word;
  typedef word bits __attribute__((vector_size(vector_bytes)));

  DRX_HOST_INLINE static pack<T> fma(pack<T> a, pack<T> b, pack<T> c) {
#if defined(__clang__) && __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#else
    if constexpr (in_floats)
      return __builtin_ia32_vfmaddps256(a, b, c);
    else
      return __builtin_ia32_vfmaddpd256(a, b, c);
#endif
  }
  /// The smaller number; a NaN in x stays.
  DRX_HOST_INLINE static pack<T> smaller(pack<T> limit, pack<T> x) {
#if defined(__clang__)
    return limit < x ? limit : x;
#else
    if constexpr (in_floats)
      return __builtin_ia32_minps256(limit, x);
    else
      return __builtin_ia32_minpd256(limit, x);
#endif
  }
};

/// tanh_begin, as `split` and `half_expm1`, and tanh_end of drx/scalar/math.hpp: each operation and constant is the
/// same there.
template <class T>
struct tanh_steps {
  using format = drx::math::detail::format<T>;
  using ops = pack_instructions<T>;
  using bits = typename ops::bits;
  static constexpr bool in_floats = std::is_same_v<T, float>;

  DRX_HOST_INLINE static bits bits_of(pack<T> x) { return reinterpret_cast<bits>(x); }
  DRX_HOST_INLINE static pack<T> number(bits x) { return reinterpret_cast<pack<T>>(x); }
  DRX_HOST_INLINE static pack<T> all(T x) { return x - pack<T>{}; }
  DRX_HOST_INLINE static bits sign() { return bits{} + drx::math::detail::sign_bit<T>; }
  DRX_HOST_INLINE static pack<T> as_rounded(pack<T> x) {
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
    if constexpr (in_floats)
      return number(bits_of(x) ^ drx::math::detail::no_bits_of_float);
    else
      return number(bits_of(x) ^ drx::math::detail::no_bits_of_double);
#elif defined(__clang__) && __has_builtin(__arithmetic_fence)
    return __arithmetic_fence(x);
#else
    return x;
#endif
  }
  DRX_HOST_INLINE static pack<T> horner(pack<T>, T c) { return all(c); }
  template <class... C>
  DRX_HOST_INLINE static pack<T> horner(pack<T> x, T c0, T c1, C... c) {
    return ops::fma(x, horner(x, c1, c...), all(c0));
  }

  /// a = |x|, limited, and 2 a / ln 2, rounded, in the low bits of `rounded`.
  DRX_HOST_INLINE static void split(pack<T> x, pack<T>& a, pack<T>& rounded) {
    a = ops::smaller(all(format::tanh_max), number(bits_of(x) & ~sign()));
    rounded = as_rounded(ops::fma(a, all(T(2 * 1.4426950408889634074)), all(format::magic)));
  }
  DRX_HOST_INLINE static pack<T> half_expm1(pack<T> a, pack<T> rounded) {
    const pack<T> n = as_rounded(rounded - format::magic);
    const pack<T> exact = as_rounded(ops::fma(n, all(-format::ln2_hi / 2), a));
    const pack<T> r = as_rounded(ops::fma(n, all(-format::ln2_lo / 2), exact)), r2 = r * r;
    pack<T> q;
    if constexpr (in_floats) {
      q = ops::fma(r2, horner(r, 0.99999996266f, 0.66666170738f, 0.33333763136f, 0.13386634875f, 0.044423991728f), r);
    } else {
      const pack<T> r4 = r2 * r2;
      const pack<T> low =
          ops::fma(r2, horner(r, 0.3333333333333336, 0.13333333333314526), horner(r, 1.0, 0.6666666666666671));
      const pack<T> middle = ops::fma(r2, horner(r, 0.0031746031821918166, 0.0007054654479815405),
                                      horner(r, 0.04444444444437331, 0.012698412727210425));
      const pack<T> high = horner(r, 0.00014109308165124456, 2.57117086623796e-05, 4.285340860736513e-06);
      const pack<T> lost = as_rounded(ops::fma(n, all(-format::ln2_lo / 2), as_rounded(exact - r)));
      q = r + ops::fma(r2, ops::fma(r4, ops::fma(r4, high, middle), low), lost);
    }
    const pack<T> scale = number((bits_of(rounded) << format::mantissa) + (format::bias << format::mantissa));
    return ops::fma(scale, q, as_rounded(ops::fma(scale, all(T(0.5)), all(T(-0.5)))));
  }
  DRX_HOST_INLINE static pack<T> end(pack<T> h, pack<T> x) {
    const pack<T> m = ops::smaller(all(1), h), y = ops::fma(-m, m / (h + T(1)), m);
    return number(bits_of(y) | (bits_of(x) & sign()));
  }
};

}  // namespace detail

/// tanh of each pack.
template <class T, int Count>
DRX_HOST_INLINE void tanh_of_packs(pack<T> (&x)[Count]) {
  using steps = detail::tanh_steps<T>;
  pack<T> a[Count], rounded[Count];
  DRX_UNROLL
  for (int k = 0; k < Count; ++k) steps::split(x[k], a[k], rounded[k]);
  DRX_UNROLL
  for (int k = 0; k < Count; ++k) a[k] = steps::half_expm1(a[k], rounded[k]);
  DRX_UNROLL
  for (int k = 0; k < Count; ++k) x[k] = steps::end(a[k], x[k]);
}

#else
template <class T>
inline constexpr bool has_pack_tanh = false;
inline constexpr int packs_of_tanh = 1;
template <class T, int Count>
void tanh_of_packs(pack<T> (&x)[Count]);  // never defined
#endif

template <class T>
DRX_HOST_INLINE pack<T> tanh_of_pack(pack<T> x) {
  pack<T> alone[] = {x};
  tanh_of_packs<T>(alone);
  return alone[0];
}

}  // namespace drx::run
