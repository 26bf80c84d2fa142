// drx/run/packs/pack.hpp: packs, that is neighbouring numbers in one vector register of the target, and transposition
// with them.
// Tested by tests/unit/run/gemm.cpp and tests/unit/run/pack_transposes.cpp.
#pragma once

#include <drx/run/packs/inlining.hpp>

#include <cstring>
#include <utility>

namespace drx::run {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32, vector_registers = 16;
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 128  // SVE, of a length that -msve-vector-bits gives
inline constexpr int vector_bytes = __ARM_FEATURE_SVE_BITS < 512 ? __ARM_FEATURE_SVE_BITS / 8 : 64,
                     vector_registers = 32;
#elif defined(__aarch64__)
inline constexpr int vector_bytes = 16, vector_registers = 32;
#else
inline constexpr int vector_bytes = 16, vector_registers = 16;
#endif
inline constexpr bool many_registers = vector_registers == 32;
/// Bytes of the shortest vector register, within which processors move numbers fastest.
inline constexpr int shortest_vector = 16;

template <class T>
inline constexpr int pack_width = vector_bytes / static_cast<int>(sizeof(T));

namespace detail {
/// Width numbers in a vector.
template <class T, int Width = pack_width<T>>
struct vector {
  static constexpr int bytes = Width * static_cast<int>(sizeof(T));
  typedef T type __attribute__((vector_size(bytes)));
  typedef T anywhere __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));  // unaligned in memory
};
}  // namespace detail

template <class T>
using pack = typename detail::vector<T>::type;

template <class T>
DRX_HOST_INLINE pack<T> load(const T* p) {
  return *reinterpret_cast<const typename detail::vector<T>::anywhere*>(p);
}
template <class T>
DRX_HOST_INLINE void save(T* p, pack<T> v) {
  *reinterpret_cast<typename detail::vector<T>::anywhere*>(p) = v;
}

namespace detail {

DRX_FN constexpr int least(int a, int b) { return a < b ? a : b; }
DRX_FN constexpr int most(int a, int b) { return a > b ? a : b; }
DRX_FN constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

template <int... Lane, class V>
DRX_HOST_INLINE V shuffle(V x, V y) {
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
DRX_HOST_INLINE V interleave(V x, V y, std::integer_sequence<int, I...>) {
  return shuffle<(First + I / 2 + I % 2 * static_cast<int>(sizeof...(I)))...>(x, y);
}

/// A pack from p on; nothing at or after `end` is read.
template <class T>
DRX_HOST_INLINE pack<T> load_before(const T* p, const T* end) {
  if (end - p >= pack_width<T>) [[likely]]
    return load(p);
  pack<T> x{};
  std::memcpy(&x, p, static_cast<std::size_t>(end - p) * sizeof(T));
  return x;
}
/// Half of a vector, from lane First on.
template <int First, class V, int... I>
DRX_HOST_INLINE auto lanes_from(V x, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(x, x, (First + I)...);
}
/// Calls f(p, part) for the first Count lanes of x, by halves, as whole vectors or number by number.
template <int Count, class T, class V, class F>
DRX_HOST_INLINE void first_lanes(T* p, V x, F f) {
  constexpr int width = static_cast<int>(sizeof(V) / sizeof(T)), half = width / 2;
#if defined(__CUDACC__)
  constexpr bool halves = false;
#else
  constexpr bool halves = sizeof(V) > shortest_vector;
#endif
  if constexpr (Count == width) {
    f(p, x);
  } else if constexpr (!halves) {
    for (int i = 0; i < Count; ++i) f(p + i, static_cast<T>(x[i]));
  } else {
    constexpr std::make_integer_sequence<int, half> some{};
    first_lanes<least(Count, half)>(p, lanes_from<0>(x, some), f);
    if constexpr (Count > half) first_lanes<Count - half>(p + half, lanes_from<half>(x, some), f);
  }
}
/// Store the first Count lanes at p, or add them to the numbers there. (A masked store would hold up loads from where
/// its mask is 0, as of the next row: rows of eight floats took 12.6 ns with it, and 4 without.)
template <int Count, class T, class V>
DRX_HOST_INLINE void save_first(T* p, V x) {
  first_lanes<Count>(p, x,
                     [](T* to, auto part) __attribute__((always_inline)) { std::memcpy(to, &part, sizeof part); });
}
template <int Count, class T, class V>
DRX_HOST_INLINE void add_first(T* p, V x) {
  first_lanes<Count>(p, x, [](T* to, auto part) __attribute__((always_inline)) {
    decltype(part) sum;
    std::memcpy(&sum, to, sizeof sum);
    sum += part;
    std::memcpy(to, &sum, sizeof sum);
  });
}
/// The lanes from First on, moved to the front.
template <int First, class V, int... I>
DRX_HOST_INLINE V moved_down(V x, std::integer_sequence<int, I...>) {
  return shuffle<((First + I) % static_cast<int>(sizeof...(I)))...>(x, x);
}

/// Exchanges lane k of pack j and lane j of pack k: log2(W) rounds of perfect shuffles.
template <class T>
DRX_HOST_INLINE void transpose_packs(pack<T>* x) {
  constexpr int W = pack_width<T>;
  constexpr std::make_integer_sequence<int, W> lanes{};
  pack<T> y[W];
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
}

/// Row J of Rows, in a pack; zeros behind the last one. Rows with fewer columns than a pack has lanes lie one after the
/// other: what a pack would read behind the last one is left out, by a load that ends there and is moved down. (A pack
/// that is written in pieces and read at once makes a processor wait.)
template <int J, int Rows, int Cols, class T>
DRX_HOST_INLINE pack<T> row_in_pack(const T* from, int stride) {
  constexpr int W = pack_width<T>, behind = Cols < W ? most(0, J * Cols + W - Rows * Cols) : 0;
  static_assert(Cols == W || Rows * Cols >= W, "rows of less than a pack in all");
  if constexpr (J >= Rows)
    return pack<T>{};
  else if constexpr (behind == 0)
    return load(from + J * stride);
  else
    return moved_down<behind>(load(from + J * stride - behind), std::make_integer_sequence<int, W>{});
}
template <int Rows, int Cols, class T, int... J>
DRX_HOST_INLINE void load_rows(pack<T>* x, const T* from, int stride, std::integer_sequence<int, J...>) {
  ((x[J] = row_in_pack<J, Rows, Cols>(from, stride)), ...);
}
/// to[k * to_stride + j] = from[j * from_stride + k] for W x W blocks. With fewer Rows the other columns of the result
/// become zero.
template <int Rows, int Cols, class T>
DRX_HOST_INLINE void transpose_block(const T* from, int from_stride, T* to, int to_stride) {
  constexpr int W = pack_width<T>;
  pack<T> x[W];
  load_rows<Rows, Cols>(x, from, from_stride, std::make_integer_sequence<int, W>{});
  transpose_packs<T>(x);
  DRX_UNROLL
  for (int j = 0; j < Cols; ++j) save(to + j * to_stride, x[j]);
}

/// The same for rows x cols numbers: the last blocks overlap the ones before.
template <class T>
DRX_HOST_INLINE void transpose(const T* from, int from_stride, T* to, int to_stride, int rows, int cols) {
  constexpr int W = pack_width<T>;
  if (rows < W || cols < W) {
    for (int j = 0; j < rows; ++j)
      for (int k = 0; k < cols; ++k) to[k * to_stride + j] = from[j * from_stride + k];
    return;
  }
  for (int row = 0; row < rows; row += W)
    for (int col = 0; col < cols; col += W) {
      const int j = least(row, rows - W), k = least(col, cols - W);
      transpose_block<W, W>(from + j * from_stride + k, from_stride, to + k * to_stride + j, to_stride);
    }
}
/// W rows of Cols numbers, one after the other.
template <int Cols, class T>
DRX_HOST_INLINE void transpose_rows(const T* from, T* to, int to_stride) {
  constexpr int W = pack_width<T>;
  if constexpr (Cols < W)
    transpose_block<W, Cols>(from, Cols, to, to_stride);
  else
    transpose(from, Cols, to, to_stride, W, Cols);
}

/// x in its last Count lanes, and 0 in the others.
template <class T, int Count, int... I>
DRX_HOST_INLINE pack<T> last_lanes(pack<T> x, std::integer_sequence<int, I...>) {
  return shuffle<(I < static_cast<int>(sizeof...(I)) - Count ? I : I + static_cast<int>(sizeof...(I)))...>(pack<T>{},
                                                                                                           x);
}
/// x in its first Count lanes, and 0 in the others.
template <class T, int Count, int... I>
DRX_HOST_INLINE pack<T> first_lanes_of(pack<T> x, std::integer_sequence<int, I...>) {
  return shuffle<(I < Count ? I : I + static_cast<int>(sizeof...(I)))...>(x, pack<T>{});
}

/// The sums of the lanes of R packs: lane r of the result is the sum of x[r]'s lanes. Halves of two packs are added
/// into one until one pack is left.
template <class T, int R>
DRX_HOST_INLINE pack<T> sums_of_lanes(const pack<T>* x) {
  constexpr int W = pack_width<T>;
  constexpr std::make_integer_sequence<int, W> lanes{};
  static_assert(R <= W && (R & (R - 1)) == 0);
  pack<T> sum[R];
  DRX_UNROLL
  for (int r = 0; r < R; ++r) sum[r] = x[r];
  DRX_UNROLL
  for (int half = R / 2; half > 0; half /= 2) DRX_UNROLL
  for (int r = 0; r < half; ++r)
    sum[r] = interleave<0>(sum[r], sum[r + half], lanes) + interleave<W / 2>(sum[r], sum[r + half], lanes);
  if constexpr (W / R >= 16) sum[0] += moved_down<8 * R>(sum[0], lanes);
  if constexpr (W / R >= 8) sum[0] += moved_down<4 * R>(sum[0], lanes);
  if constexpr (W / R >= 4) sum[0] += moved_down<2 * R>(sum[0], lanes);
  if constexpr (W / R >= 2) sum[0] += moved_down<R>(sum[0], lanes);
  return sum[0];
}

/// Half of the lanes of x, then of y, in the order in which their sums are halved. Below 16 bytes these are runs of
/// Run lanes, x's and y's in turn within the 16 bytes, which processors do fastest; then whole chunks of 16 bytes,
/// x's before y's, where Chunks of them belong to one row.
template <int Run, int Chunks, bool Upper, int Short, int W>
constexpr int halved_lane(int i) {
  if (Run < Short)
    return i / Short * Short + (Upper ? Short / 2 : 0) + i % Short / (2 * Run) * Run + i % Run +
           (i / Run % 2 == 1 ? W : 0);
  const int at = i % (W / 2) / Short, half = Chunks / 2;
  return (at / half * Chunks + (Upper ? half : 0) + at % half) * Short + i % Short + (i >= W / 2 ? W : 0);
}
template <int Run, int Chunks, bool Upper, int Short, class V, int... I>
DRX_HOST_INLINE V halved_lanes(V x, V y, std::integer_sequence<int, I...>) {
  return shuffle<halved_lane<Run, Chunks, Upper, Short, static_cast<int>(sizeof...(I))>(I)...>(x, y);
}
/// The same for as many packs as lanes, by the operation op of two packs.
template <class T, int Run = 1, int Count = pack_width<T>, class Op>
DRX_HOST_INLINE pack<T> folds_of_all_lanes(const pack<T>* x, Op op) {
  constexpr int W = pack_width<T>, in_shortest = shortest_vector / static_cast<int>(sizeof(T)), chunks = Count;
  if constexpr (Count == 1) {
    return x[0];
  } else {
    constexpr std::make_integer_sequence<int, W> lanes{};
    pack<T> sum[Count / 2];
    DRX_UNROLL
    for (int r = 0; r < Count / 2; ++r)
      sum[r] = op(halved_lanes<Run, chunks, false, in_shortest>(x[2 * r], x[2 * r + 1], lanes),
                  halved_lanes<Run, chunks, true, in_shortest>(x[2 * r], x[2 * r + 1], lanes));
    return folds_of_all_lanes<T, 2 * Run, Count / 2>(sum, op);
  }
}
template <class T>
DRX_HOST_INLINE pack<T> sums_of_all_lanes(const pack<T>* x) {
  return folds_of_all_lanes<T>(x, [](pack<T> a, pack<T> b) __attribute__((always_inline)) { return a + b; });
}

}  // namespace detail

/// Writes the transpose of `from`, Rows x Cols, to `to`, in packs where an extent has any.
template <int Rows, int Cols, class T>
DRX_INLINE void transpose(const T* from, T* to) {
#if !defined(__CUDACC__)
  constexpr int W = pack_width<T>;
  if constexpr (Rows == 0 || Cols == 0) {
    return;
  } else if constexpr (Rows >= W && Cols >= W) {
    return detail::transpose(from, Cols, to, Rows, Rows, Cols);
  } else if constexpr (Rows % W == 0 && Cols > 1) {  // few columns
    for (int row = 0; row < Rows; row += W) detail::transpose_block<W, Cols>(from + row * Cols, Cols, to + row, Rows);
    return;
  } else if constexpr (Cols % W == 0 && Rows > 1) {  // few rows: the next pack overwrites the end of each
    for (int col = 0; col < Cols - W; col += W)
      detail::transpose_block<Rows, W>(from + col, Cols, to + col * Rows, Rows);
    alignas(64) T last[W * W];
    detail::transpose_block<Rows, W>(from + Cols - W, Cols, last, W);
    for (int j = 0; j < W; ++j)
      for (int i = 0; i < Rows; ++i) to[(Cols - W + j) * Rows + i] = last[j * W + i];
    return;
  }
#endif
  for (int j = 0; j < Rows; ++j)
    for (int k = 0; k < Cols; ++k) to[k * Rows + j] = from[j * Cols + k];
}

}  // namespace drx::run
