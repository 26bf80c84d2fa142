// drx/run/gemm.hpp: dense product of constant size, row-major and contiguous, fused with what happens to the result.
//
// C = op(A) op(B) is computed in register tiles of R rows and P packs; a pack is W neighbouring columns in one vector register.
// Each result element is handed to the epilogue exactly once, finished:
//   epilogue(row, col, pack<T> values)  columns col .. col + W - 1 of a row, or
//   epilogue(row, col, T value)         a single element (the last N % W columns; all of them in the plain loop).
// Where N is no multiple of W, the last pack starts at column N - W: it computes some columns twice, but needs neither a mask
// nor padding. Summation order depends on the sizes alone, so equal inputs give equal bits wherever they lie in memory.
#pragma once

#include <drx/run/unroll.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace drx::kernel {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32, vector_registers = 16;
#else
inline constexpr int vector_bytes = 16, vector_registers = 16;
#endif

template <class T>
inline constexpr int pack_width = vector_bytes / static_cast<int>(sizeof(T));

namespace detail {
template <class T>
struct vector {
  typedef T type __attribute__((vector_size(vector_bytes)));
  typedef T anywhere __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));  // unaligned in memory
};
}  // namespace detail

template <class T>
using pack = typename detail::vector<T>::type;

template <class T>
DRX_HOST pack<T> load(const T* p) {
  return *reinterpret_cast<const typename detail::vector<T>::anywhere*>(p);
}
template <class T>
DRX_HOST void save(T* p, pack<T> v) {
  *reinterpret_cast<typename detail::vector<T>::anywhere*>(p) = v;
}

namespace detail {

template <class T, int N>
struct store_epilogue {
  T* c;
  DRX_INLINE void operator()(int row, int col, T value) const { c[row * N + col] = value; }
  DRX_HOST void operator()(int row, int col, pack<T> value) const { save(c + row * N + col, value); }
};

template <class T, int N>
struct add_epilogue {
  T* c;
  DRX_INLINE void operator()(int row, int col, T value) const { c[row * N + col] += value; }
  DRX_HOST void operator()(int row, int col, pack<T> value) const {
    T* p = c + row * N + col;
    save(p, load(p) + value);
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

DRX_FN constexpr int least(int a, int b) { return a < b ? a : b; }
DRX_FN constexpr int most(int a, int b) { return a > b ? a : b; }
DRX_FN constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

template <int... Lane, class V>
DRX_HOST V shuffle(V x, V y) {
#if defined(__CUDACC__)  // nvcc 13 passes the builtin on with its pack unexpanded
  V z;
  int i = 0;
  ((z[i++] = Lane < static_cast<int>(sizeof...(Lane)) ? x[Lane] : y[Lane - static_cast<int>(sizeof...(Lane))]), ...);
  return z;
#else
  return __builtin_shufflevector(x, y, Lane...);
#endif
}

/// Interleaves the lower (First = 0) or upper (First = W / 2) halves of x and y.
template <int First, class V, int... I>
DRX_HOST V interleave(V x, V y, std::integer_sequence<int, I...>) {
  return shuffle<(First + I / 2 + I % 2 * static_cast<int>(sizeof...(I)))...>(x, y);
}

/// to[k * to_stride + j] = from[j * from_stride + k] for a W x W block: log2(W) rounds of perfect shuffles.
template <class T>
DRX_HOST void transpose_block(const T* from, int from_stride, T* to, int to_stride) {
  constexpr int W = pack_width<T>;
  constexpr std::make_integer_sequence<int, W> lanes{};
  pack<T> x[W], y[W];
  DRX_UNROLL
  for (int j = 0; j < W; ++j) x[j] = load(from + j * from_stride);
  DRX_UNROLL
  for (int round = 1; round < W; round *= 2) {
    DRX_UNROLL
    for (int j = 0; j < W / 2; ++j) {
      y[2 * j] = interleave<0>(x[j], x[j + W / 2], lanes);
      y[2 * j + 1] = interleave<W / 2>(x[j], x[j + W / 2], lanes);
    }
    DRX_UNROLL
    for (int j = 0; j < W; ++j) x[j] = y[j];
  }
  DRX_UNROLL
  for (int j = 0; j < W; ++j) save(to + j * to_stride, x[j]);
}

/// The same for rows x cols: the last blocks overlap the ones before.
template <class T>
DRX_HOST void transpose(const T* from, int from_stride, T* to, int to_stride, int rows, int cols) {
  constexpr int W = pack_width<T>;
  if (rows < W || cols < W) {
    for (int j = 0; j < rows; ++j)
      for (int k = 0; k < cols; ++k) to[k * to_stride + j] = from[j * from_stride + k];
    return;
  }
  for (int row = 0; row < rows; row += W)
    for (int col = 0; col < cols; col += W) {
      const int j = least(row, rows - W), k = least(col, cols - W);
      transpose_block(from + j * from_stride + k, from_stride, to + k * to_stride + j, to_stride);
    }
}

template <class T, int M, int N, int K, bool TransA, bool TransB>
struct product {
  static constexpr int W = pack_width<T>;
  static constexpr int packs = ceil_div(N, W), tail = N % W;
  static constexpr int back = N < W ? 0 : (W - tail) % W;  // how far the last pack is moved back to end at column N

  // Registers: R P accumulators, P packs of B, one element of A. P packs suit few rows, R rows follow from P.
  static constexpr int likely_rows = least(M, vector_registers == 32 ? 14 : 6);
  static constexpr int most_packs = M == 1 ? 8 : least(8, (vector_registers - 1) / (likely_rows + 1));
  static constexpr int panel_packs = ceil_div(packs, ceil_div(packs, most_packs));
  static constexpr int rows_for(int p) { return least(M, most(1, least(14, (vector_registers - 1 - p) / p))); }

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
  };

  /// P packs of columns from col on; Last: they end at column N.
  template <int P, bool Last, class Epilogue>
  static void panel(const T* a, const T* b, int col, Epilogue& epilogue) {
    // Deep products run in passes over k, so that the copied panel stays on the stack and in the second cache.
    constexpr int depth = packed ? least(K, 65536 / (P * vector_bytes)) : K;
    constexpr bool in_passes = depth < K;
    constexpr int tiles = ceil_div(M, rows_for(P)), rows = M / tiles, taller = M % tiles;  // the first are one row taller
    constexpr int tiles_at_once = in_passes ? least(tiles, 32) : tiles;                    // whose partial sums are kept
    alignas(64) T copy[packed ? depth * P * W : 1];
    alignas(64) T partial[in_passes ? tiles_at_once * (rows + 1) * P * W : 1];

    for (int begin = 0; begin < tiles; begin += tiles_at_once) {
      const int end = least(tiles, begin + tiles_at_once);
      for (int k = 0; k < K; k += depth) {
        const int deep = in_passes ? least(depth, K - k) : K;
        const T* b_panel = b + k * N + col;
        if constexpr (packed) copy_panel<P, Last>(b, copy, col, k, deep), b_panel = copy;

        const auto run = [&]<int R>(std::integral_constant<int, R>, int index) {
          const int row = index * rows + least(index, taller);
          T* saved = partial + (in_passes ? (index - begin) * (rows + 1) * P * W : 0);
          tile<R, P> t;
          DRX_UNROLL
          for (int r = 0; r < R; ++r)
            DRX_UNROLL
            for (int p = 0; p < P; ++p) t.sum[r][p] = in_passes && k > 0 ? load(saved + (r * P + p) * W) : pack<T>{};
          t.template multiply<Last ? back : 0>(a + (TransA ? k * M + row : row * K + k), b_panel, deep);
          const bool finished = !in_passes || k + deep == K;
          DRX_UNROLL
          for (int r = 0; r < R; ++r)
            DRX_UNROLL
            for (int p = 0; p < P; ++p) {
              if (!finished) save(saved + (r * P + p) * W, t.sum[r][p]);
              else if (Last && p == P - 1 && tail != 0)
                DRX_UNROLL
                for (int j = 0; j < tail; ++j) epilogue(row + r, N - tail + j, t.sum[r][p][j + back]);
              else epilogue(row + r, col + p * W, t.sum[r][p]);
            }
        };
        int index = begin;
        if constexpr (taller != 0)
          for (; index < least(end, taller); ++index) run(std::integral_constant<int, rows + 1>{}, index);
        for (; index < end; ++index) run(std::integral_constant<int, rows>{}, index);
      }
    }
  }

  /// copy[k][p W + lane] = op(B)[first + k][column of the lane]
  template <int P, bool Last>
  DRX_HOST static void copy_panel(const T* b, T* copy, int col, int first, int depth) {
    if constexpr (N < W) {
      for (int k = 0; k < depth; ++k)
        for (int j = 0; j < W; ++j) copy[k * W + j] = j < N ? (TransB ? b[j * K + first + k] : b[(first + k) * N + j]) : T(0);
    } else {
      for (int p = 0; p < P; ++p) {
        const int c = col + p * W - (Last && p == P - 1 ? back : 0);
        if constexpr (!TransB)
          for (int k = 0; k < depth; ++k) save(copy + (k * P + p) * W, load(b + (first + k) * N + c));
        else transpose(b + c * K + first, K, copy + p * W, P * W, W, depth);
      }
    }
  }

  template <class Epilogue>
  DRX_HOST static void run(const T* a, const T* b, Epilogue& epilogue) {
    constexpr int last = (packs - 1) % panel_packs + 1, first = packs - last;
    if constexpr (first > 0)
      for (int p = 0; p < first; p += panel_packs) panel<panel_packs, false>(a, b, p * W, epilogue);
    panel<last, true>(a, b, first * W, epilogue);
  }
};

template <class V, int... I>
DRX_HOST auto add_lanes(V x, std::integer_sequence<int, I...>) {
  constexpr int W = sizeof...(I);
  if constexpr (W >= 16) x += shuffle<((I + 8) % W)...>(x, x);
  if constexpr (W >= 8) x += shuffle<((I + 4) % W)...>(x, x);
  if constexpr (W >= 4) x += shuffle<((I + 2) % W)...>(x, x);
  return x[0] + x[1];
}

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
    const auto shifted = [&](int row, int col, auto value) { epilogue(first + row, col, value); };
    product<T, Rows, N, K, false, TransB>::run(copy, b, shifted);
  }

  template <class Epilogue>
  DRX_HOST static void run(const T* a, const T* b, Epilogue& epilogue) {
    int first = 0;
    for (; first <= M - rows; first += rows) block<rows>(a, b, first, epilogue);
    if constexpr (M % rows != 0) block<M % rows>(a, b, first, epilogue);
  }
};

/// sink(row, sum over k of a[row][k] x[k]) for every row: packs run along k, four rows at a time.
template <class T, int M, int K, class Sink>
DRX_HOST void dot_rows(const T* a, const T* x, Sink sink) {
  constexpr int W = pack_width<T>, whole = K / W * W;
  const auto rows = [&]<int R>(std::integral_constant<int, R>, int row) {
    pack<T> sum[R] = {};
    for (int k = 0; k < whole; k += W)
      DRX_UNROLL
      for (int r = 0; r < R; ++r) sum[r] += load(a + (row + r) * K + k) * load(x + k);
    DRX_UNROLL
    for (int r = 0; r < R; ++r) {
      T total = add_lanes(sum[r], std::make_integer_sequence<int, W>{});
      for (int k = whole; k < K; ++k) total += a[(row + r) * K + k] * x[k];
      sink(row + r, total);
    }
  };
  int row = 0;
  for (; row <= M - 4; row += 4) rows(std::integral_constant<int, 4>{}, row);
  if constexpr (M % 4 != 0)
    for (; row < M; ++row) rows(std::integral_constant<int, 1>{}, row);
}

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
  } else if constexpr (N == 1 && !TransA) {
    detail::dot_rows<T, M, K>(a, b, [&](int row, T value) { epilogue(row, 0, value); });
  } else if constexpr (M == 1 && TransB) {
    detail::dot_rows<T, N, K>(b, a, [&](int col, T value) { epilogue(0, col, value); });
  } else if constexpr (N == 1) {  // as a row, where neighbouring results share a pack
    const auto turned = [&](int, int first, auto value) {
      if constexpr (std::same_as<decltype(value), T>) epilogue(first, 0, value);
      else
        for (int j = 0; j < pack_width<T>; ++j) epilogue(first + j, 0, value[j]);
    };
    detail::product<T, 1, M, K, false, false>::run(b, a, turned);
  } else if constexpr (TransA && detail::wide_product<T, M, N, K, TransB>::fits) {
    detail::wide_product<T, M, N, K, TransB>::run(a, b, epilogue);
  } else {
    detail::product<T, M, N, K, TransA, TransB>::run(a, b, epilogue);
  }
}

}  // namespace drx::kernel
