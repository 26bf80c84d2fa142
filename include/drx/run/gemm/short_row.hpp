// drx/run/gemm/short_row.hpp: a row times a matrix with few columns: a pack holds several rows of the matrix.
// Tested by tests/unit/run/gemm.cpp.
#pragma once

#include <drx/run/gemm/tiles.hpp>

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
    for (; k + W <= K; k += W) add<false>(sum, a, b, k);
    if (k < K) add<true>(sum, a, b, k);
    for (int c = chains / 2; c > 0; c /= 2)
      for (int i = 0; i < c; ++i) sum[i] += sum[i + c];
    tiled_product<T, 1, N, K, false, false>::finish_row(epilogue, 0, added_rows(sum[0]));
  }

 private:
  /// Adds the products of W numbers of the row, from k on, with the rows of b; if `Last`, of those that are left.
  template <bool Last>
  DRX_HOST_INLINE static void add(pack<T> (&sum)[chains], const T* a, const T* b, int k) {
    const pack<T> row = Last ? load_before(a + k, a + K) : load(a + k);
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      ((sum[I % chains] += repeated<I * rows>(row, lanes) *
                           (Last ? load_before_end(b + (k + I * rows) * N, b + K * N) : load(b + (k + I * rows) * N))),
       ...);
    }(std::make_integer_sequence<int, N>{});
  }
  DRX_HOST_INLINE static pack<T> load_before_end(const T* p, const T* end) {
    return p < end ? load_before(p, end) : pack<T>{};
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
