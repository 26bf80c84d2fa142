// drx/run/packs/some_lanes.hpp: the first lanes of a pack from memory, where rows end within a pack.
// Tested by tests/unit/run/folds_of_loops.cpp.
#pragma once

#include <drx/run/packs/pack.hpp>

#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace drx::run {

/// The first Count lanes from p on, and 0 in the others; no more is read.
template <int Count, class T>
DRX_HOST_INLINE pack<T> load_first(const T* p) {
  if constexpr (Count == pack_width<T>) {
    return load(p);
  } else {
#if defined(__AVX512F__) && !defined(__CUDACC__)
    if constexpr (sizeof(T) == 4)
      return reinterpret_cast<pack<T>>(_mm512_maskz_loadu_ps((1U << Count) - 1, p));
    else
      return reinterpret_cast<pack<T>>(_mm512_maskz_loadu_pd((1U << Count) - 1, p));
#else
    pack<T> x{};
    std::memcpy(&x, p, Count * sizeof(T));
    return x;
#endif
  }
}

}  // namespace drx::run
