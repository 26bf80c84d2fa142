// drx/run/gemm.hpp: dense product of constant size, row-major and contiguous, fused with what happens to the result.
//
// C = op(A) op(B) is computed in register tiles of R rows and P packs; a pack is W neighbouring columns in one vector register.
// Each result element is handed to the epilogue exactly once, finished:
//   epilogue(row, col, pack<T> values)  columns col .. col + W - 1 of a row, or
//   epilogue(row, col, pack<T> values, std::integral_constant<int, Count>)   only the first Count of them (the last N % W), or
//   epilogue(row, col, T value)         a single element (where it takes no Count; all of them in the plain loop).
// An epilogue with a type `takes_tiles`, for an N that is a multiple of W, gets whole tiles instead:
//   epilogue.template finish<Cols>(const T* tile, row, rows, col)   rows x Cols finished elements, one row behind the other.
// A long one of packs (tanh) has a type `beside_products` besides: a tile's packs go through it one by one between the steps of the next
// tile's products, which fill the time that its chain of operations leaves.
// Where N is no multiple of W, the last pack starts at column N - W: it computes some columns twice, but needs neither a mask
// nor padding. Summation order depends on the sizes alone, so equal inputs give equal bits wherever they lie in memory.
#pragma once

#include <drx/run/pack.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace drx::kernel {

inline constexpr int most_tile_rows = 14;

namespace detail {

template <class T, int N>
struct store_epilogue {
  T* c;
  DRX_INLINE void operator()(int row, int col, T value) const { c[row * N + col] = value; }
  DRX_HOST void operator()(int row, int col, pack<T> value) const { save(c + row * N + col, value); }
  template <int Count>
  DRX_HOST void operator()(int row, int col, pack<T> value, std::integral_constant<int, Count>) const {
    save_first<Count>(c + row * N + col, value);
  }
};

template <class T, int N>
struct add_epilogue {
  T* c;
  DRX_INLINE void operator()(int row, int col, T value) const { c[row * N + col] += value; }
  DRX_HOST void operator()(int row, int col, pack<T> value) const {
    T* p = c + row * N + col;
    save(p, load(p) + value);
  }
  template <int Count>
  DRX_HOST void operator()(int row, int col, pack<T> value, std::integral_constant<int, Count>) const {
    add_first<Count>(c + row * N + col, value);
  }
};

}  // namespace detail

/// Epilogues for a contiguous C of N columns: C = op(A) op(B), and C += op(A) op(B).
template <int N, class T>
DRX_INLINE detail::store_epilogue<T, N> store(T* c) {
  return {c};
}
template <int N, class T>
DRX_INLINE detail::add_epilogue<T, N> add_to(T* c) {
  return {c};
}

namespace detail {

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

/// A^T B of few columns: packs run along the rows of the result, which a tile holds transposed.
template <class T, int M, int N, int K, bool TransB>
struct narrow_product {
  static constexpr int W = pack_width<T>, P = M / W % 2 == 0 ? 2 : 1;
  static constexpr bool fits = W > 2 && N >= W / 2 && N < W && M % W == 0;

  template <class Epilogue>
  DRX_HOST static void run(const T* a, const T* b, Epilogue& epilogue) {
    for (int row = 0; row < M; row += P * W) {
      pack<T> sum[N][P] = {};
      for (int k = 0; k < K; ++k) {
        pack<T> x[P];
        DRX_UNROLL
        for (int p = 0; p < P; ++p) x[p] = load(a + k * M + row + p * W);
        DRX_UNROLL
        for (int j = 0; j < N; ++j) {
          const T y = TransB ? b[j * K + k] : b[k * N + j];
          DRX_UNROLL
          for (int p = 0; p < P; ++p) sum[j][p] += y * x[p];
        }
      }
      DRX_UNROLL
      for (int p = 0; p < P; ++p) {
        pack<T> turned[W];
        DRX_UNROLL
        for (int j = 0; j < W; ++j) turned[j] = j < N ? sum[j < N ? j : 0][p] : pack<T>{};
        transpose_packs<T>(turned);
        DRX_UNROLL
        for (int i = 0; i < W; ++i) product<T, M, N, K, true, TransB>::finish_row(epilogue, row + p * W + i, turned[i]);
      }
    }
  }
};

/// An epilogue for the rows from `first` on.
template <class Epilogue>
struct shifted {
  Epilogue& epilogue;
  int first;
  template <class... Values>
  DRX_HOST void operator()(int row, int col, Values... values) const
    requires std::invocable<Epilogue&, int, int, Values...>
  {
    epilogue(first + row, col, values...);
  }
};
template <class Epilogue>
  requires requires { typename Epilogue::takes_tiles; }
struct shifted<Epilogue> {
  using takes_tiles = void;
  Epilogue& epilogue;
  int first;
  template <int Cols, class T>
  void finish(const T* tile, int row, int rows, int col) const {
    epilogue.template finish<Cols>(tile, first + row, rows, col);
  }
};

/// A^T B for an A of wide rows, where a tile would use little of each cache line: blocks of A are transposed first.
template <class T, int M, int N, int K, bool TransB>
struct wide_product {
  static constexpr int most_rows = least(192, 262144 / static_cast<int>(sizeof(T)) / most(K, 1));
  static constexpr bool fits = M * static_cast<int>(sizeof(T)) >= 1024 && N >= 32 && most_rows >= 32;
  static constexpr int rows = ceil_div(M, ceil_div(M, most(most_rows, 1)));

  template <int Rows, class Epilogue>
  static void block(const T* a, const T* b, int first, Epilogue& epilogue) {
    alignas(64) T copy[Rows * K];
    transpose(a + first, M, copy, K, K, Rows);
    const shifted<Epilogue> from_first{epilogue, first};
    product<T, Rows, N, K, false, TransB>::run(copy, b, from_first);
  }

  template <class Epilogue>
  DRX_HOST static void run(const T* a, const T* b, Epilogue& epilogue) {
    int first = 0;
    for (; first <= M - rows; first += rows) block<rows>(a, b, first, epilogue);
    if constexpr (M % rows != 0) block<M % rows>(a, b, first, epilogue);
  }
};

/// sink(row, sums, integral_constant R): lane r of sums is the sum over k of a[row + r][k] x[k], r < R. Packs run along k,
/// eight or four rows at a time. The last pack ends at K; lanes that it shares with the one before are zeros, in a too,
/// since an infinity times 0 is none.
template <class T, int M, int K, class Sink>
DRX_HOST void dot_rows(const T* a, const T* x, Sink sink) {
  constexpr int W = pack_width<T>, whole = K / W * W, tail = K % W, most = W >= 8 ? 8 : 4;
  constexpr bool overlaps = tail != 0 && K > W;
  const auto ending = [](const T* p) __attribute__((always_inline)) {  // the last `tail` of K elements, after zeros
    return last_lanes<T, tail>(load(p + K - W), std::make_integer_sequence<int, W>{});
  };
  const auto rows = [&]<int R>(std::integral_constant<int, R>, int row) __attribute__((always_inline)) {
    pack<T> sum[R] = {};
    for (int k = 0; k < whole; k += W)
      DRX_UNROLL
      for (int r = 0; r < R; ++r) sum[r] += load(a + (row + r) * K + k) * load(x + k);
    if constexpr (overlaps) {
      const pack<T> last = ending(x);
      DRX_UNROLL
      for (int r = 0; r < R; ++r) sum[r] += ending(a + (row + r) * K) * last;
    }
    constexpr int group = R < W ? R : W;
    DRX_UNROLL
    for (int g = 0; g < R; g += group) {
      pack<T> totals = sums_of_lanes<T, group>(sum + g);
      if constexpr (tail != 0 && !overlaps)
        DRX_UNROLL
        for (int r = 0; r < group; ++r)
          for (int k = 0; k < K; ++k) totals[r] += a[(row + g + r) * K + k] * x[k];
      sink(row + g, totals, std::integral_constant<int, group>{});
    }
  };
  int row = 0;
  for (; row <= M - most; row += most) rows(std::integral_constant<int, most>{}, row);
  constexpr int rest = M % most;
  if constexpr ((rest & 4) != 0) rows(std::integral_constant<int, 4>{}, row), row += 4;
  if constexpr ((rest & 2) != 0) rows(std::integral_constant<int, 2>{}, row), row += 2;
  if constexpr ((rest & 1) != 0) rows(std::integral_constant<int, 1>{}, row);
}

/// A B^T of few rows of A, both read along their rows: W results are W sums over lanes, which are added up together. For long
/// rows this costs less than to transpose B.
template <class T, int M, int N, int K>
struct dotted_product {
  static constexpr int W = pack_width<T>;
  static constexpr bool fits = W > 2 && M > 1 && M < 16 && N % W == 0 && K % W == 0 && K > 8 * M;
  static constexpr int at_once = W < 8 ? 2 : 1;  // rows of A: enough independent sums

  template <int R, class Sink>
  DRX_HOST static void rows(const T* a, const T* b, Sink sink) {
    pack<T> sum[R][W] = {};
    for (int k = 0; k < K; k += W) {
      pack<T> x[R];
      DRX_UNROLL
      for (int r = 0; r < R; ++r) x[r] = load(a + r * K + k);
      DRX_UNROLL
      for (int j = 0; j < W; ++j) {
        const pack<T> y = load(b + j * K + k);
        DRX_UNROLL
        for (int r = 0; r < R; ++r) sum[r][j] += x[r] * y;
      }
    }
    DRX_UNROLL
    for (int r = 0; r < R; ++r) sink(r, sums_of_all_lanes<T>(sum[r]));
  }

  template <class Epilogue>
  static void run(const T* a, const T* b, Epilogue& epilogue) {
    constexpr bool in_tiles = requires { typename std::remove_cvref_t<Epilogue>::takes_tiles; };
    constexpr int rest = M % at_once;
    alignas(64) T done[in_tiles ? M * W : 1];
    for (int col = 0; col < N; col += W) {
      const auto some = [&]<int R>(std::integral_constant<int, R>, int row) __attribute__((always_inline)) {
        rows<R>(a + row * K, b + col * K, [&](int r, pack<T> sums) __attribute__((always_inline)) {
          if constexpr (in_tiles) save(done + (row + r) * W, sums);
          else epilogue(row + r, col, sums);
        });
      };
      for (int row = 0; row < M - rest; row += at_once) some(std::integral_constant<int, at_once>{}, row);
      if constexpr (rest > 0) some(std::integral_constant<int, rest>{}, M - rest);
      if constexpr (in_tiles)
        for (int row = 0; row < M; row += most_tile_rows)
          epilogue.template finish<W>(done + row * W, row, least(most_tile_rows, M - row), col);
    }
  }
};

}  // namespace detail

/// C = op(A) op(B): op(A) is M x K, stored K x M if TransA; op(B) is K x N, stored N x K if TransB. Any extent may be 0.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class T, int M, int N, int K, bool TransA, bool TransB, class Epilogue>
DRX_INLINE void gemm(const T* a, const T* b, Epilogue epilogue) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  constexpr bool vectorised = false;  // one thread of a device
#else
  constexpr bool vectorised = (std::same_as<T, float> || std::same_as<T, double>) && M > 0 && N > 0 && K > 0;
#endif
  if constexpr (!vectorised) {
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        T sum = 0;
        for (int k = 0; k < K; ++k) sum = static_cast<T>(sum + a[TransA ? k * M + i : i * K + k] * b[TransB ? j * K + k : k * N + j]);
        epilogue(i, j, sum);
      }
  } else if constexpr ((N == 1 && !TransA) || (M == 1 && TransB)) {
    constexpr bool column = N == 1 && !TransA;
    detail::dot_rows<T, column ? M : N, K>(column ? a : b, column ? b : a, [&]<int R>(int first, pack<T> sums, std::integral_constant<int, R>) {
      if constexpr (std::same_as<Epilogue, detail::store_epilogue<T, N>>) {  // in one store, from which packs can be read at once
        detail::save_first<R>(epilogue.c + first, sums);
      } else {
        for (int r = 0; r < R; ++r) epilogue(column ? first + r : 0, column ? 0 : first + r, sums[r]);
      }
    });
  } else if constexpr (N == 1) {  // as a row, where neighbouring results share a pack
    const auto turned = [&](int, int first, auto value) {
      if constexpr (std::same_as<decltype(value), T>) epilogue(first, 0, value);
      else
        for (int j = 0; j < pack_width<T>; ++j) epilogue(first + j, 0, value[j]);
    };
    detail::product<T, 1, M, K, false, false>::run(b, a, turned);
  } else if constexpr (TransA && detail::narrow_product<T, M, N, K, TransB>::fits) {
    detail::narrow_product<T, M, N, K, TransB>::run(a, b, epilogue);
  } else if constexpr (TransA && detail::wide_product<T, M, N, K, TransB>::fits) {
    detail::wide_product<T, M, N, K, TransB>::run(a, b, epilogue);
  } else if constexpr (!TransA && TransB && detail::dotted_product<T, M, N, K>::fits) {
    detail::dotted_product<T, M, N, K>::run(a, b, epilogue);
  } else {
    detail::product<T, M, N, K, TransA, TransB>::run(a, b, epilogue);
  }
}

}  // namespace drx::kernel
