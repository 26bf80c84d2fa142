// drx/run/packs/some_lanes.hpp: the first lanes of a pack from memory, and to it, where rows end within a pack.
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
/// Stores the first Count lanes of x at p. (A masked store holds up loads from where its mask is 0, as of the next row:
/// rows of eight floats took 12.6 ns with it, and 4 without.)
template <int Count, class T>
DRX_HOST_INLINE void store_first(T* p, pack<T> x) {
  if constexpr (Count == pack_width<T>) {
    save(p, x);
  } else {
    detail::save_first<Count>(p, x);
  }
}

}  // namespace drx::run
