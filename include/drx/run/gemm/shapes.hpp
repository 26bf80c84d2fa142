// drx/run/gemm/shapes.hpp: matrix products of shapes that do not suit register tiles: with few columns or rows, with
// wide rows that are transposed, and matrices times vectors.
// Tested by tests/unit/run/gemm.cpp.
#pragma once

#include <drx/run/gemm/short_dots.hpp>
#include <drx/run/gemm/tiles.hpp>

namespace drx::run::detail {

/// A^T B with few columns: packs run along the rows of the result, which a tile holds transposed.
template <class T, int M, int N, int K, bool TransB>
struct narrow_product {
  static constexpr int W = pack_width<T>, P = M / W % 2 == 0 ? 2 : 1;
  static constexpr bool fits = W > 2 && N >= W / 2 && N < W&& M % W == 0;

  template <class Epilogue>
  DRX_HOST_INLINE static void run(const T* a, const T* b, Epilogue& epilogue) {
    for (int row = 0; row < M; row += P * W) {
      pack<T> sum[N][P] = {};
      add_up<K>(sum, [&](int first, int depth) __attribute__((always_inline)) {
        for (int k = first; k < first + depth; ++k) {
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
      });
      DRX_UNROLL
      for (int p = 0; p < P; ++p) {
        pack<T> turned[W];
        DRX_UNROLL
        for (int j = 0; j < W; ++j) turned[j] = j < N ? sum[j < N ? j : 0][p] : pack<T>{};
        transpose_packs<T>(turned);
        DRX_UNROLL
        for (int i = 0; i < W; ++i)
          tiled_product<T, M, N, K, true, TransB>::finish_row(epilogue, row + p * W + i, turned[i]);
      }
    }
  }
};

/// An epilogue that counts rows from `first` on.
template <class Epilogue>
struct shifted {
  Epilogue& epilogue;
  int first;
  template <class... Values>
  DRX_HOST_INLINE void operator()(int row, int col, Values... values) const
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

/// A^T B for an A with wide rows, where a tile would use little of each cache line: blocks of A are transposed first.
template <class T, int M, int N, int K, bool TransB>
struct wide_product {
  static constexpr int copy_bytes = 256 << 10;  // of a block, which stays in the second cache
  static constexpr int enough = 32;             // rows of a block, and columns of the result, that pay for transposing
  static constexpr int tallest_block = 192;     // rows, whose tiles share the panels of B
  static constexpr int most_rows = least(tallest_block, copy_bytes / static_cast<int>(sizeof(T)) / most(K, 1));
  static constexpr bool fits = M * static_cast<int>(sizeof(T)) >= wide_row && N >= enough && most_rows >= enough;
  static constexpr int rows = ceil_div(M, ceil_div(M, most(most_rows, 1)));

  template <int Rows, class Epilogue>
  static void transposed_rows(const T* a, const T* b, int first, Epilogue& epilogue) {
    alignas(64) T copy[Rows * K];
    transpose(a + first, M, copy, K, K, Rows);
    const shifted<Epilogue> from_first{epilogue, first};
    tiled_product<T, Rows, N, K, false, TransB>::run(copy, b, from_first);
  }

  template <class Epilogue>
  DRX_HOST_INLINE static void run(const T* a, const T* b, Epilogue& epilogue) {
    int first = 0;
    for (; first <= M - rows; first += rows) transposed_rows<rows>(a, b, first, epilogue);
    if constexpr (M % rows != 0) transposed_rows<M % rows>(a, b, first, epilogue);
  }
};

/// sink(row, sums, integral_constant R): lane r of sums is the sum over k of a[row + r][k] x[k], r < R. Packs run along
/// k, eight or four rows at a time. The last pack ends at K; lanes that it shares with the one before are zeros, also
/// in a, since an infinity times 0 is not 0. Rows of half a pack and less lie in packs side by side. The rows may be of
/// 16 bits.
template <class T, int M, int K, class A, class Sink>
DRX_HOST_INLINE void dot_rows(const A* a, const T* x, Sink sink) {
  constexpr int W = pack_width<T>, whole = K / W * W, tail = K % W, most = W >= 8 ? 8 : 4;
  constexpr bool overlaps = tail != 0 && K > W, alone = K < W && K > W / 2 && M > 1 && W > 2;
  constexpr std::make_integer_sequence<int, W> lanes{};
  const auto ending = [&](const auto* p) __attribute__((always_inline)) {  // the last `tail` of K elements, after zeros
    return last_lanes<T, tail>(load_as<T>(p + K - W), lanes);
  };
  pack<T> short_x{};  // x, if it is shorter than a pack
  if constexpr (alone)
    for (int k = 0; k < K; ++k) short_x[k] = x[k];
  const auto rows = [&]<int R>(std::integral_constant<int, R>, int row) __attribute__((always_inline)) {
    pack<T> sum[1][R] = {};
    add_up<whole / W>(sum, [&](int first, int steps) __attribute__((always_inline)) {
      for (int k = first * W; k < (first + steps) * W; k += W) DRX_UNROLL
      for (int r = 0; r < R; ++r) sum[0][r] += load_as<T>(a + (row + r) * K + k) * load(x + k);
    });
    if constexpr (overlaps) {
      const pack<T> last = ending(x);
      DRX_UNROLL
      for (int r = 0; r < R; ++r) sum[0][r] += ending(a + (row + r) * K) * last;
    }
    if constexpr (alone) DRX_UNROLL
    for (int r = 0; r < R; ++r) {  // a pack begins where the row does; the last row's ends where it does
      const bool last = row + r == M - 1;
      const pack<T> numbers =
          last ? moved_down<W - tail>(load_as<T>(a + M * K - W), lanes) : load_as<T>(a + (row + r) * K);
      sum[0][r] = first_lanes_of<T, tail>(numbers, lanes) * short_x;
    }
    constexpr int in_pack = R < W ? R : W;
    DRX_UNROLL
    for (int g = 0; g < R; g += in_pack) {
      pack<T> totals = sums_of_lanes<T, in_pack>(sum[0] + g);
      if constexpr (tail != 0 && !overlaps && !alone) DRX_UNROLL
      for (int r = 0; r < in_pack; ++r)
        for (int k = 0; k < K; ++k) totals[r] += static_cast<T>(a[(row + g + r) * K + k]) * x[k];
      sink(row + g, totals, std::integral_constant<int, in_pack>{});
    }
  };
  int row = 0;
  if constexpr (short_dots<T, K>::fits && M >= W) {
    const short_dots<T, K> dots(x);
    for (; row <= M - W; row += W) sink(row, dots.of(a + row * K), std::integral_constant<int, W>{});
  }
  for (; row <= M - most; row += most) rows(std::integral_constant<int, most>{}, row);
  constexpr int rest = M % most;
  if constexpr ((rest & 4) != 0) rows(std::integral_constant<int, 4>{}, row), row += 4;
  if constexpr ((rest & 2) != 0) rows(std::integral_constant<int, 2>{}, row), row += 2;
  if constexpr ((rest & 1) != 0) rows(std::integral_constant<int, 1>{}, row);
}

/// A B^T with few rows of A; both are read along their rows. W results are W sums over lanes, which are added up
/// together. For long rows this costs less than transposing B.
template <class T, int M, int N, int K>
struct dotted_product {
  static constexpr int W = pack_width<T>;
  static constexpr int few_rows = 16, long_for_each_row = 8;  // for more rows of A, or shorter sums, B is transposed
  static constexpr bool fits = W > 2 && M > 1 && M<few_rows && N % W == 0 && K % W == 0 && K> long_for_each_row* M;
  static constexpr int at_once = W < 8 ? 2 : 1;  // rows of A, enough for independent sums

  template <int R, class Sink>
  DRX_HOST_INLINE static void rows(const T* a, const T* b, Sink sink) {
    pack<T> sum[R][W] = {};
    add_up<K / W>(sum, [&](int first, int steps) __attribute__((always_inline)) {
      for (int k = first * W; k < (first + steps) * W; k += W) {
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
    });
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
          if constexpr (in_tiles)
            save(done + (row + r) * W, sums);
          else
            epilogue(row + r, col, sums);
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

}  // namespace drx::run::detail
