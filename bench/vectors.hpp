// bench/vectors.hpp: common parts of the sides by hand that use the compiler's vectors.
#pragma once

#include <cstdint>
#include <cstring>

namespace bench {

#define BENCH_INLINE inline __attribute__((always_inline))

#ifdef __AVX512F__
inline constexpr int vector_bytes = 64;
#else
inline constexpr int vector_bytes = 32;
#endif
using floats = float __attribute__((vector_size(vector_bytes)));
using doubles = double __attribute__((vector_size(vector_bytes)));

BENCH_INLINE floats splat(float s) { return s - floats{}; }
BENCH_INLINE doubles splat(double s) { return s - doubles{}; }
BENCH_INLINE floats load(const float* p) {
  floats v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
BENCH_INLINE doubles load(const double* p) {
  doubles v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
BENCH_INLINE void store(float* p, floats v) { std::memcpy(p, &v, sizeof v); }
BENCH_INLINE void store(double* p, doubles v) { std::memcpy(p, &v, sizeof v); }

template <class V>
BENCH_INLINE auto sum(V v) {
  auto s = v[0];
  for (std::size_t l = 1; l < sizeof v / sizeof s; ++l) s += v[l];
  return s;
}

/// tanh of a vector of floats: the rational approximation of Eigen's packet tanh, within a few ulp.
template <class V>
BENCH_INLINE V tanh(V x) {
  const V top = 7.90531110763549805f - V{};
  x = x > top ? top : x;
  x = x < -top ? -top : x;
  const V s = x * x;
  V p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = s * p + -8.60467152213735e-11f;
  p = s * p + 5.12229709037114e-08f;
  p = s * p + 1.48572235717979e-05f;
  p = s * p + 6.37261928935436e-04f;
  p = s * p + 4.89352455891786e-03f;
  V q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = s * q + 2.26843463243900e-03f;
  q = s * q + 4.89352518554385e-03f;
  return x * p / q;
}

/// exp of a vector of floats up to 0, for a softmax that subtracts the largest number first.
template <class V>
BENCH_INLINE V exp(V x) {
  typedef std::int32_t whole __attribute__((vector_size(sizeof(V))));  // (g++ 12 takes `using` for a plain int)
  const V low = -87.0f - V{},
          magic = 12582912.0f - V{};  // 1.5 * 2^23: adding it rounds to an integer, in the lowest bits
  x = x < low ? low : x;
  const V shifted = x * 1.44269504088896341f + magic, n = shifted - magic;
  const V r = x - n * 0.693359375f - n * -2.12194440e-4f;
  V p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = r * p + 8.3334519073e-3f;
  p = r * p + 4.1665795894e-2f;
  p = r * p + 1.6666665459e-1f;
  p = r * p + 5.0000001201e-1f;
  p = r * r * p + r + 1.0f;
  whole bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + 0x3f800000;
  V two_to_n;
  std::memcpy(&two_to_n, &bits, sizeof two_to_n);
  return p * two_to_n;
}

}  // namespace bench
