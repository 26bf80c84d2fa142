// drx/run/packs/not_numbers.hpp: whether a NaN is among many numbers. Extrema of numbers alone take one instruction
// each, where those that must pass on a NaN take four.
// Tested by tests/unit/run/extrema.cpp.
#pragma once

#include <drx/run/packs/pack.hpp>

#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace drx::run {

/// Whether a lane of x is a NaN.
template <class T>
DRX_HOST_INLINE bool has_nan(pack<T> x) {
#if defined(__AVX512F__) && !defined(__CUDACC__)
  if constexpr (sizeof(T) == 4)
    return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(x), _CMP_UNORD_Q) != 0;
  else
    return _mm512_cmp_pd_mask(reinterpret_cast<__m512d>(x), reinterpret_cast<__m512d>(x), _CMP_UNORD_Q) != 0;
#else
  bool any = false;
  for (int lane = 0; lane < pack_width<T>; ++lane) any |= x[lane] != x[lane];
  return any;
#endif
}

}  // namespace drx::run
