// drx/run/gemm/short_row.hpp: a row times a matrix with few columns: a pack holds several rows of the matrix.
// Tested by tests/unit/run/gemm.cpp.
#pragma once

#include <drx/run/gemm/tiles.hpp>

#include <cstring>

namespace drx::run::detail {

/// The row of K numbers a times the K x N matrix b, both contiguous.
template <class T, int N, int K>
struct short_row_product {
  static constexpr int W = pack_width<T>, rows = W / N;  // of b in a pack
  static constexpr bool fits = N > 1 && N < W&& W % N == 0 && K >= W&& K <= longest_chain;
  static constexpr int chains = least(N, 4);  // of additions
  static constexpr std::make_integer_sequence<int, W> lanes{};

  template <class Epilogue>
  DRX_HOST_INLINE static void run(const T* a, const T* b, Epilogue& epilogue) {
    pack<T> sum[chains]{};
    int k = 0;
    for (; k + W <= K; k += W) add<W>(sum, a + k, b + k * N);
    if constexpr (K % W != 0) add<K % W>(sum, a + k, b + k * N);
    for (int c = chains / 2; c > 0; c /= 2)
      for (int i = 0; i < c; ++i) sum[i] += sum[i + c];
    tiled_product<T, 1, N, K, false, false>::finish_row(epilogue, 0, added_rows(sum[0]));
  }

 private:
  /// Adds the products of `Count` numbers of the row, at most W, with the rows of b.
  template <int Count>
  DRX_HOST_INLINE static void add(pack<T> (&sum)[chains], const T* a, const T* b) {
    const pack<T> row = first_numbers<Count>(a);
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      ((sum[I % chains] += repeated<I * rows>(row, lanes) * first_numbers<(Count - I * rows) * N>(b + I * W)), ...);
    }(std::make_integer_sequence<int, N>{});
  }
  /// A pack of the first Count numbers, and zeros.
  template <int Count>
  DRX_HOST_INLINE static pack<T> first_numbers(const T* p) {
    if constexpr (Count >= W) {
      return load(p);
    } else {
      pack<T> x{};
      if constexpr (Count > 0) std::memcpy(&x, p, Count * sizeof(T));
      return x;
    }
  }
  /// Numbers First, First + 1, ... of x, N times each.
  template <int First, int... I>
  DRX_HOST_INLINE static pack<T> repeated(pack<T> x, std::integer_sequence<int, I...>) {
    return shuffle<(First + I / N)...>(x, x);
  }
  /// The sum of the rows in a pack, in its first N lanes.
  DRX_HOST_INLINE static pack<T> added_rows(pack<T> x) {
    if constexpr (rows >= 8) x += moved_down<4 * N>(x, lanes);
    if constexpr (rows >= 4) x += moved_down<2 * N>(x, lanes);
    x += moved_down<N>(x, lanes);
    return x;
  }
};

}  // namespace drx::run::detail
