// drx/run/gemm_tiles.hpp: products of matrices in register tiles of R rows and P packs; a pack is W neighbouring columns in one vector register.
//
// Where N is no multiple of W, the last pack starts at column N - W: it computes some columns twice, but needs neither a mask
// nor padding. Summation order depends on the sizes alone, so equal inputs give equal bits wherever they lie in memory.
#pragma once

#include <drx/run/pack.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace drx::kernel {

/// The most rows of a tile, and of what an epilogue takes at once.
inline constexpr int most_tile_rows = 14;

namespace detail {

/// C = op(A) op(B), an M x N matrix of sums of K products.
template <class T, int M, int N, int K, bool TransA, bool TransB>
struct product {
  static constexpr int W = pack_width<T>;
  static constexpr int packs = ceil_div(N, W), tail = N % W;
  static constexpr int back = N < W ? 0 : (W - tail) % W;  // how far the last pack is moved back to end at column N

  // Registers: R P accumulators, P packs of B, one element of A. P packs suit few rows, R rows follow from P.
  static constexpr int likely_rows = least(M, vector_registers == 32 ? most_tile_rows : 6);
  static constexpr int most_packs = M == 1 ? 8 : least(8, (vector_registers - 1) / (likely_rows + 1));
  static constexpr int panel_packs = ceil_div(packs, ceil_div(packs, most_packs));
  static constexpr int rows_for(int p) { return least(M, most(1, least(most_tile_rows, (vector_registers - 1 - p) / p))); }

  // B is copied into a contiguous panel where it is transposed or narrow, and where its rows are too far apart for the first
  // cache while many rows of A share the cost.
  static constexpr bool packed = TransB || N < W || (N * static_cast<int>(sizeof(T)) >= 1024 && M >= 48);

  template <int R, int P>
  struct tile {
    pack<T> sum[R][P];

    /// sum += A[R rows, depth] B[depth, P packs]
    template <int Back>
    DRX_HOST void multiply(const T* a, const T* b, int depth) {
      constexpr int stride = packed ? P * W : N;
      for (int k = 0; k < depth; ++k, b += stride) {
        pack<T> row[P];
        DRX_UNROLL
        for (int p = 0; p < P; ++p) row[p] = load(b + p * W - (p == P - 1 && !packed ? Back : 0));
        DRX_UNROLL
        for (int r = 0; r < R; ++r) {
          const T x = TransA ? a[k * M + r] : a[r * K + k];
          DRX_UNROLL
          for (int p = 0; p < P; ++p) sum[r][p] += x * row[p];
        }
      }
    }
    DRX_HOST void save_to(T* to) const {
      DRX_UNROLL
      for (int r = 0; r < R; ++r)
        DRX_UNROLL
        for (int p = 0; p < P; ++p) save(to + (r * P + p) * W, sum[r][p]);
    }
  };

  /// The most rows of a copied panel of p packs: it lies on the stack and stays in the second cache.
  static constexpr int depth_of_panel(int p) { return 65536 / (p * vector_bytes); }
  static constexpr int tiles_for(int p) { return ceil_div(M, rows_for(p)); }
  /// Calls f(integral_constant R, row) for tiles `begin` to `end` - 1 of `Tiles`, R rows each; the first are one row taller.
  template <int Tiles, class F>
  DRX_HOST static void for_each_tile(int begin, int end, F f) {
    constexpr int rows = M / Tiles, taller = M % Tiles;
    int index = begin;
    if constexpr (taller != 0)
      for (; index < least(end, taller); ++index) f(std::integral_constant<int, rows + 1>{}, index * (rows + 1));
    for (; index < end; ++index) f(std::integral_constant<int, rows>{}, index * rows + taller);
  }

  /// P packs of columns from col on; Last: they end at column N.
  template <int P, bool Last, class Epilogue>
  static void panel(const T* a, const T* b, int col, Epilogue epilogue) {  // its own: not reloaded after each store
    if constexpr (packed && K > depth_of_panel(P)) {
      deep_panel<P, Last>(a, b, col, epilogue);
    } else {
      alignas(64) T copy[packed ? K * P * W : 1];
      const T* b_panel = b + col;
      if constexpr (packed) copy_panel<P, Last>(b, copy, col, 0, K), b_panel = copy;
      for_each_tile<tiles_for(P)>(0, tiles_for(P), [&]<int R>(std::integral_constant<int, R>, int row) __attribute__((always_inline)) {
        tile<R, P> t{};
        t.template multiply<Last ? back : 0>(a + (TransA ? row : row * K), b_panel, K);
        finish_tile<R, P, Last>(epilogue, row, col, t);
      });
    }
  }
  /// The same in passes over k.
  template <int P, bool Last, class Epilogue>
  static void deep_panel(const T* a, const T* b, int col, Epilogue& epilogue) {
    constexpr int depth = depth_of_panel(P), most_rows = M / tiles_for(P) + 1;
    constexpr int tiles_at_once = least(tiles_for(P), 32);  // whose partial sums are kept
    alignas(64) T copy[depth * P * W];
    alignas(64) T partial[tiles_at_once * most_rows * P * W];
    for (int begin = 0; begin < tiles_for(P); begin += tiles_at_once) {
      for (int k = 0; k < K; k += depth) {
        const int deep = least(depth, K - k);
        copy_panel<P, Last>(b, copy, col, k, deep);
        T* saved = partial;
        for_each_tile<tiles_for(P)>(begin, least(tiles_for(P), begin + tiles_at_once), [&]<int R>(std::integral_constant<int, R>, int row) {
          tile<R, P> t;
          DRX_UNROLL
          for (int r = 0; r < R; ++r)
            DRX_UNROLL
            for (int p = 0; p < P; ++p) t.sum[r][p] = k > 0 ? load(saved + (r * P + p) * W) : pack<T>{};
          t.template multiply<0>(a + (TransA ? k * M + row : row * K + k), copy, deep);
          if (k + deep == K) finish_tile<R, P, Last>(epilogue, row, col, t);
          else t.save_to(saved);
          saved += R * P * W;
        });
      }
    }
  }
  template <int R, int P, bool Last, class Epilogue>
  DRX_HOST static void finish_tile(Epilogue& epilogue, int row, int col, const tile<R, P>& t) {
    if constexpr (requires { typename Epilogue::takes_tiles; }) {
      alignas(64) T done[R * P * W];
      t.save_to(done);
      epilogue.template finish<P * W>(done, row, R, col);
    } else {
      DRX_UNROLL
      for (int r = 0; r < R; ++r)
        DRX_UNROLL
        for (int p = 0; p < P; ++p) finish_pack<Last && tail != 0>(epilogue, row + r, col + p * W, p == P - 1, t.sum[r][p]);
    }
  }

  static constexpr bool can_run_beside = vector_registers == 32 && tail == 0 && packs % panel_packs == 0 &&
                                         (!packed || K <= depth_of_panel(panel_packs));
  /// Each tile's packs go through the epilogue between the steps of the next one's products.
  template <class Epilogue>
  static void run_beside(const T* a, const T* b, Epilogue epilogue) {
    constexpr int P = panel_packs, all = ceil_div(M, most(1, 16 / P)), most_rows = ceil_div(M, all);  // registers are left for the epilogue
    constexpr int steps = most(1, least(4, K / (most_rows * P)));
    constexpr int stride = packed ? P * W : N;
    alignas(64) T copy[packed ? K * P * W : 1];
    alignas(64) T done[2][most_rows * P * W];
    struct {
      const T* tile;
      int row, col, packs = 0;
    } before;
    const auto finish = [&](int i) __attribute__((always_inline)) {
      epilogue(before.row + i / P, before.col + i % P * W, load(before.tile + i * W));
    };
    T *to = done[0], *other = done[1];
    for (int col = 0; col < N; col += P * W) {
      const T* b_panel = b + col;
      if constexpr (packed) copy_panel<P, false>(b, copy, col, 0, K), b_panel = copy;
      for_each_tile<all>(0, all, [&]<int R>(std::integral_constant<int, R>, int row) __attribute__((always_inline)) {
        const T *x = a + (TransA ? row : row * K), *y = b_panel;
        const int together = least(before.packs, K / steps);
        tile<R, P> t{};
        int i = 0;
        for (; i < together; ++i, x += steps * (TransA ? M : 1), y += steps * stride) {
          t.template multiply<0>(x, y, steps);
          finish(i);
        }
        t.template multiply<0>(x, y, K - together * steps);
        for (; i < before.packs; ++i) finish(i);
        t.save_to(to);
        before = {to, row, col, R * P};
        std::swap(to, other);
      });
    }
    for (int i = 0; i < before.packs; ++i) finish(i);
  }

  /// One pack of a row; `last`: it ends at column N.
  template <bool HasTail, class Epilogue>
  DRX_HOST static void finish_pack(Epilogue& epilogue, int row, int col, [[maybe_unused]] bool last, pack<T> sum) {
    if constexpr (HasTail) {
      if (last) return finish_row(epilogue, row, sum);
    }
    epilogue(row, col, sum);
  }
  /// The last columns of a row.
  template <class Epilogue>
  DRX_HOST static void finish_row(Epilogue& epilogue, int row, pack<T> sum) {
    constexpr std::integral_constant<int, tail> count{};
    if constexpr (std::invocable<Epilogue&, int, int, pack<T>, std::integral_constant<int, tail>>) {
      epilogue(row, N - tail, moved_down<back>(sum, std::make_integer_sequence<int, W>{}), count);
    } else {
      DRX_UNROLL
      for (int j = 0; j < tail; ++j) epilogue(row, N - tail + j, sum[j + back]);
    }
  }

  /// copy[k][p W + lane] = op(B)[first + k][column of the lane]
  template <int P, bool Last>
  DRX_HOST static void copy_panel(const T* b, T* copy, int col, int first, int depth) {
    if constexpr (N < W && !TransB) {
      for (int k = 0; k < depth; ++k) save(copy + k * W, load_before(b + (first + k) * N, b + K * N));
    } else if constexpr (N < W) {
      int k = 0;
      for (; k + W <= depth; k += W) transpose_block<N, W>(b + first + k, K, b, copy + k * W, W);
      for (; k < depth; ++k)
        for (int j = 0; j < W; ++j) copy[k * W + j] = j < N ? b[j * K + first + k] : T(0);
    } else {
      for (int p = 0; p < P; ++p) {
        const int c = col + p * W - (Last && p == P - 1 ? back : 0);
        if constexpr (!TransB)
          for (int k = 0; k < depth; ++k) save(copy + (k * P + p) * W, load(b + (first + k) * N + c));
        else if constexpr (K < W) transpose_rows<K>(b + c * K, copy + p * W, P * W);
        else transpose(b + c * K + first, K, copy + p * W, P * W, W, depth);
      }
    }
  }

  template <class Epilogue>
  DRX_HOST static void run(const T* a, const T* b, Epilogue& epilogue) {
    if constexpr (can_run_beside && requires { typename Epilogue::beside_products; }) return run_beside(a, b, epilogue);
    constexpr int last = (packs - 1) % panel_packs + 1, first = packs - last;
    if constexpr (first > 0)
      for (int p = 0; p < first; p += panel_packs) panel<panel_packs, false>(a, b, p * W, epilogue);
    panel<last, true>(a, b, first * W, epilogue);
  }
};

}  // namespace detail
}  // namespace drx::kernel
