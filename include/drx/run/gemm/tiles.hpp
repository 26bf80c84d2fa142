// drx/run/gemm/tiles.hpp: matrix products in register tiles of R rows and P packs; a pack is W neighbouring columns in
// one vector register.
//
// Where N is no multiple of W, the last pack starts at column N - W: it computes some columns twice, but needs neither
// a mask nor padding. The order of summation depends on the sizes alone, so that equal inputs give equal bits wherever
// they lie in memory.
// Tested by tests/unit/run/gemm.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/run/packs/long_sums.hpp>
#include <drx/run/packs/halves.hpp>
#include <drx/run/packs/pack.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace drx::run {

/// The largest number of rows in a tile, and in a call of an epilogue: with two sums for each, two packs of B and an
/// element of A they take 31 of 32 registers.
inline constexpr int most_tile_rows = 14;
/// From this many bytes in a row on, the columns that a tile reads are copied first: in place, each row is in another
/// cache line, and every few rows in another page.
inline constexpr int wide_row = 1024;
/// The rows of A that share, and so pay for, a copy of B's columns.
inline constexpr int rows_that_pay_for_a_copy = 48;
/// The bytes of a copied panel, which lies on the stack and stays in the second cache.
inline constexpr int panel_bytes = 64 << 10;

namespace detail {

/// C = op(A) op(B), an M x N matrix of sums of K products. B may have numbers of 16 bits where it is not copied.
template <class T, int M, int N, int K, bool TransA, bool TransB>
struct tiled_product {
  static constexpr int W = pack_width<T>;
  static constexpr int packs = ceil_div(N, W), tail = N % W;
  static constexpr int back = N < W ? 0 : (W - tail) % W;  // how far the last pack is moved back to end at column N

  // Registers hold R P accumulators, P packs of B and one element of A. P packs suit few rows; R follows from P.
  static constexpr int likely_rows = least(M, (vector_registers - 1 - 2) / 2);  // of two packs
  static constexpr int sums_at_once = 8;  // independent ones hide the time that an addition takes
  static constexpr int most_packs =
      M == 1 ? sums_at_once : least(sums_at_once, (vector_registers - 1) / (likely_rows + 1));
  static constexpr int panel_packs = ceil_div(packs, ceil_div(packs, most_packs));
  static constexpr int rows_for(int p) {
    return least(M, most(1, least(most_tile_rows, (vector_registers - 1 - p) / p)));
  }

  // B is copied into a contiguous panel if it is transposed or narrow, and also, while many rows of A share the cost,
  // if its rows are too far apart for the first cache or all of it is too large for the second.
  static constexpr int bytes_of_row = N * static_cast<int>(sizeof(T));
  static constexpr bool far_apart = bytes_of_row >= wide_row || std::int64_t{K} * bytes_of_row > machine::second_cache;
  static constexpr bool packed = TransB || N < W || (M >= rows_that_pay_for_a_copy && far_apart);

  template <int R, int P>
  struct tile {
    pack<T> sum[R][P];

    /// sum += A[R rows, depth] B[depth, P packs].
    template <int Back, class B>
    DRX_HOST_INLINE void multiply(const T* a, const B* b, int depth) {
      constexpr int stride = packed ? P * W : N;
      for (int k = 0; k < depth; ++k, b += stride) {
        pack<T> row[P];
        DRX_UNROLL
        for (int p = 0; p < P; ++p) row[p] = load_as<T>(b + p * W - (p == P - 1 && !packed ? Back : 0));
        DRX_UNROLL
        for (int r = 0; r < R; ++r) {
          const T x = TransA ? a[k * M + r] : a[r * K + k];
          DRX_UNROLL
          for (int p = 0; p < P; ++p) sum[r][p] += x * row[p];
        }
      }
    }
    /// sum += A[R rows, Depth] B[Depth, P packs], in parts.
    template <int Back, int Depth, class B>
    DRX_HOST_INLINE void multiply_all(const T* a, const B* b) {
      constexpr int sums = R * P, chains = sums == 1 ? 8 : sums == 2 ? 4 : sums <= 4 ? 2 : 1;
      add_up<Depth>(sum, [&](int first, int depth) __attribute__((always_inline)) {
        const T* x = a + first * (TransA ? M : 1);
        const B* y = b + first * (packed ? P * W : N);
        if constexpr (chains > 1 && Depth >= 2 * chains)
          multiply_in_chains<Back, chains>(x, y, depth);
        else
          multiply<Back>(x, y, depth);
      });
    }
    /// The same in so many chains of additions, each of every so many-th term.
    template <int Back, int Chains, class B>
    DRX_HOST_INLINE void multiply_in_chains(const T* a, const B* b, int depth) {
      constexpr int next_a = TransA ? M : 1, next_b = packed ? P * W : N;
      tile chain[Chains]{};
      int k = 0;
      for (; k + Chains <= depth; k += Chains) DRX_UNROLL
      for (int c = 0; c < Chains; ++c) chain[c].template multiply<Back>(a + (k + c) * next_a, b + (k + c) * next_b, 1);
      multiply<Back>(a + k * next_a, b + k * next_b, depth - k);
      DRX_UNROLL
      for (int half = Chains / 2; half > 0; half /= 2) DRX_UNROLL
      for (int c = 0; c < half; ++c) chain[c].add(chain[c + half]);
      add(chain[0]);
    }
    DRX_HOST_INLINE void add(const tile& other) {
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < P; ++p) sum[r][p] += other.sum[r][p];
    }
    DRX_HOST_INLINE void save_to(T* to) const {
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < P; ++p) save(to + (r * P + p) * W, sum[r][p]);
    }
    DRX_HOST_INLINE void add(const T* from) {
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < P; ++p) sum[r][p] += load(from + (r * P + p) * W);
    }
  };

  /// The largest number of rows in a copied panel of p packs.
  static constexpr int depth_of_panel(int p) { return panel_bytes / (p * vector_bytes); }
  static constexpr int tiles_for(int p) { return ceil_div(M, rows_for(p)); }
  /// Calls f(integral_constant R, row) for tiles `begin` to `end` - 1 of `Tiles`, R rows each; the first are one row
  /// taller.
  template <int Tiles, class F>
  DRX_HOST_INLINE static void for_each_tile(int begin, int end, F f) {
    constexpr int rows = M / Tiles, taller = M % Tiles;
    int index = begin;
    if constexpr (taller != 0)
      for (; index < least(end, taller); ++index) f(std::integral_constant<int, rows + 1>{}, index * (rows + 1));
    for (; index < end; ++index) f(std::integral_constant<int, rows>{}, index * rows + taller);
  }

  /// P packs of columns from col on; if Last, they end at column N.
  template <int P, bool Last, class B, class Epilogue>
  static void panel(const T* a, const B* b, int col, Epilogue epilogue) {  // a copy: not reloaded after each store
    if constexpr (packed && K > depth_of_panel(P)) {
      deep_panel<P, Last>(a, b, col, epilogue);
    } else {
      alignas(64) T copy[packed ? K * P * W : 1];
      const std::conditional_t<packed, T, B>* b_panel;
      if constexpr (packed)
        copy_panel<P, Last>(b, copy, col, 0, K), b_panel = copy;
      else
        b_panel = b + col;
      for_each_tile<tiles_for(P)>(0, tiles_for(P),
                                  [&]<int R>(std::integral_constant<int, R>, int row) __attribute__((always_inline)) {
                                    tile<R, P> t{};
                                    t.template multiply_all<Last ? back : 0, K>(a + (TransA ? row : row * K), b_panel);
                                    finish_tile<R, P, Last>(epilogue, row, col, t);
                                  });
    }
  }
  /// The same in passes over k, each of which adds a part of the sums.
  template <int P, bool Last, class Epilogue>
  static void deep_panel(const T* a, const T* b, int col, Epilogue& epilogue) {
    constexpr int depth = least(depth_of_panel(P), longest_chain), most_rows = M / tiles_for(P) + 1;
    constexpr int most_kept = 32,
                  tiles_at_once = least(tiles_for(P), most_kept);  // partial sums are kept, on the stack
    constexpr int levels = levels_of(ceil_div(K, depth)), kept = tiles_at_once * most_rows * P * W;
    alignas(64) T copy[depth * P * W];
    alignas(64) T partial[levels * kept];
    for (int begin = 0; begin < tiles_for(P); begin += tiles_at_once) {
      for (int k = 0; k < K; k += depth) {
        const int deep = least(depth, K - k);
        const bool last = k + deep == K;
        copy_panel<P, Last>(b, copy, col, k, deep);
        T* saved = partial;
        for_each_tile<tiles_for(P)>(
            begin, least(tiles_for(P), begin + tiles_at_once), [&]<int R>(std::integral_constant<int, R>, int row) {
              tile<R, P> t{};
              t.template multiply<0>(a + (TransA ? k * M + row : row * K + k), copy, deep);
              carry_part<levels>(
                  k / depth, last, [&](int level) __attribute__((always_inline)) { t.add(saved + level * kept); },
                  [&](int level) __attribute__((always_inline)) { t.save_to(saved + level * kept); });
              if (last) finish_tile<R, P, Last>(epilogue, row, col, t);
              saved += R * P * W;
            });
      }
    }
  }
  template <int R, int P, bool Last, class Epilogue>
  DRX_HOST_INLINE static void finish_tile(Epilogue& epilogue, int row, int col, const tile<R, P>& t) {
    if constexpr (requires { typename Epilogue::takes_tiles; }) {
      alignas(64) T done[R * P * W];
      t.save_to(done);
      epilogue.template finish<P * W>(done, row, R, col);
    } else {
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < P; ++p)
        finish_pack<Last && tail != 0>(epilogue, row + r, col + p * W, p == P - 1, t.sum[r][p]);
    }
  }

  static constexpr bool can_run_beside = many_registers && tail == 0 && packs % panel_packs == 0 &&
                                         K <= longest_chain && (!packed || K <= depth_of_panel(panel_packs));
  /// Each tile's packs go through the epilogue between the steps of the next tile's products.
  template <class Epilogue>
  static void run_beside(const T* a, const T* b, Epilogue epilogue) {
    constexpr int sums_beside = 16;  // of 32 registers: the others are left for the epilogue
    constexpr int most_steps = 4;    // of the product between two packs of the epilogue
    constexpr int P = panel_packs, all = ceil_div(M, most(1, sums_beside / P)), most_rows = ceil_div(M, all);
    constexpr int steps = most(1, least(most_steps, K / (most_rows * P)));
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

  /// One pack of a row; if `last`, it ends at column N.
  template <bool HasTail, class Epilogue>
  DRX_HOST_INLINE static void finish_pack(Epilogue& epilogue, int row, int col, [[maybe_unused]] bool last,
                                          pack<T> sum) {
    if constexpr (HasTail) {
      if (last) return finish_row(epilogue, row, sum);
    }
    epilogue(row, col, sum);
  }
  /// The last columns of a row.
  template <class Epilogue>
  DRX_HOST_INLINE static void finish_row(Epilogue& epilogue, int row, pack<T> sum) {
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
  DRX_HOST_INLINE static void copy_panel(const T* b, T* copy, int col, int first, int depth) {
    if constexpr (N < W && !TransB) {
      for (int k = 0; k < depth; ++k) save(copy + k * W, load_before(b + (first + k) * N, b + K * N));
    } else if constexpr (N < W) {
      int k = 0;
      for (; k + W <= depth; k += W) transpose_block<N, W>(b + first + k, K, copy + k * W, W);
      T* row = copy + k * W;  // (g++ 12 takes k * W for a sum that may overflow where the loop has no step)
      for (; k < depth; ++k, row += W)
        for (int j = 0; j < W; ++j) row[j] = j < N ? b[j * K + first + k] : T(0);
    } else {
      for (int p = 0; p < P; ++p) {
        const int c = col + p * W - (Last && p == P - 1 ? back : 0);
        if constexpr (!TransB)
          for (int k = 0; k < depth; ++k) save(copy + (k * P + p) * W, load(b + (first + k) * N + c));
        else if constexpr (K < W)
          transpose_rows<K>(b + c * K, copy + p * W, P * W);
        else
          transpose(b + c * K + first, K, copy + p * W, P * W, W, depth);
      }
    }
  }

  /// Whether A is one long row, with more columns than a panel has: some rows of B are then taken at a time, in full
  /// width, which reads memory once and in order.
  static constexpr bool streams = M == 1 && !packed && packs > most_packs&& K > longest_chain;
  template <class B, class Epilogue>
  static void stream(const T* a, const B* b, Epilogue epilogue) {
    constexpr int rows = 8;             // of B at a time, so that a sum is loaded and saved once for each eight of them
    constexpr int most_columns = 2048;  // whose sums stay in the first cache
    constexpr int parts = ceil_div(K, longest_chain), levels = levels_of(parts);
    alignas(64) T sum[most_columns], held[levels][most_columns];
    for (int begin = 0; begin < packs; begin += most_columns / W) {
      const int count = least(packs - begin, most_columns / W);
      const auto column = [&](int p) { return (begin + p) * W - (begin + p == packs - 1 ? back : 0); };
      const auto add_rows = [&]<int Rows>(int k, std::integral_constant<int, Rows>) __attribute__((always_inline)) {
        for (int p = 0; p < count; ++p) {
          const B* from = b + std::int64_t{k} * N + column(p);
          pack<T> total = load(sum + p * W);
          DRX_UNROLL
          for (int r = 0; r < Rows; ++r) total += a[k + r] * load_as<T>(from + r * N);
          save(sum + p * W, total);
        }
      };
      for (int part = 0; part < parts; ++part) {
        std::memset(sum, 0, sizeof sum);
        const int end = least((part + 1) * longest_chain, K);
        int k = part * longest_chain;
        for (; k + rows <= end; k += rows) add_rows(k, std::integral_constant<int, rows>{});
        for (; k < end; ++k) add_rows(k, std::integral_constant<int, 1>{});
        carry_part<levels>(
            part, part + 1 == parts,
            [&](int level) {
              for (int i = 0; i < count * W; ++i) sum[i] += held[level][i];
            },
            [&](int level) { std::memcpy(held[level], sum, sizeof sum); });
      }
      for (int p = 0; p < count; ++p)
        finish_pack<tail != 0>(epilogue, 0, (begin + p) * W, begin + p == packs - 1, load(sum + p * W));
    }
  }

  template <class B, class Epilogue>
  DRX_HOST_INLINE static void run(const T* a, const B* b, Epilogue& epilogue) {
    if constexpr (streams && !requires { typename Epilogue::takes_tiles; }) return stream(a, b, epilogue);
    if constexpr (can_run_beside && requires { typename Epilogue::beside_products; }) return run_beside(a, b, epilogue);
    constexpr int last = (packs - 1) % panel_packs + 1, first = packs - last;
    if constexpr (first > 0)
      for (int p = 0; p < first; p += panel_packs) panel<panel_packs, false>(a, b, p * W, epilogue);
    panel<last, true>(a, b, first * W, epilogue);
  }
};

}  // namespace detail
}  // namespace drx::run
