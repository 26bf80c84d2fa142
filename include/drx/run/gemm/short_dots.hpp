// drx/run/gemm/short_dots.hpp: dot products of many rows that are shorter than a pack with one vector.
// Tested by tests/unit/run/gemm.cpp.
#pragma once

#include <drx/run/packs/halves.hpp>

#include <utility>

namespace drx::run::detail {

/// Dot products of W rows of K numbers, which lie in K packs one after the other, with the K numbers x.
template <class T, int K>
struct short_dots {
  static constexpr int W = pack_width<T>, in_shortest = shortest_vector / static_cast<int>(sizeof(T));
  static constexpr bool in_halves = (K & (K - 1)) == 0 && K >= in_shortest;
  static constexpr int most_columns = 7;  // each takes K - 1 shuffles
  static constexpr bool fits = W > 2 && K > 1 && K <= W / 2 && (in_halves || K <= most_columns);
  static constexpr std::make_integer_sequence<int, W> lanes{};

  const T* x;
  pack<T> repeated{};  // x as often as a pack holds it, if products are halved

  DRX_HOST_INLINE explicit short_dots(const T* numbers) : x(numbers) {
    if constexpr (in_halves)
      for (int i = 0; i < W; ++i) repeated[i] = x[i % K];
  }
  /// The dot products of the rows from a on.
  template <class A>
  DRX_HOST_INLINE pack<T> of(const A* a) const {
    pack<T> rows[K];
    DRX_UNROLL
    for (int k = 0; k < K; ++k) rows[k] = load_as<T>(a + k * W);
    if constexpr (in_halves) {
      DRX_UNROLL
      for (int k = 0; k < K; ++k) rows[k] *= repeated;
      return in_order(halved<K, 1>(rows), lanes);
    } else {
      return [&]<int... Column>(std::integer_sequence<int, Column...>) __attribute__((always_inline)) {
        pack<T> sum{};
        ((sum += x[Column] * column<Column, 1>(rows, rows[0], lanes)), ...);
        return sum;
      }(std::make_integer_sequence<int, K>{});
    }
  }

 private:
  /// Adds halves of two packs into one until one is left, first within the shortest vectors. Its lane
  /// i in_shortest + j then belongs to row of_lane(i, j).
  template <int Count, int Run>
  DRX_HOST_INLINE static pack<T> halved(const pack<T>* p) {
    if constexpr (Count == 1) {
      return p[0];
    } else {
      pack<T> sum[Count / 2];
      DRX_UNROLL
      for (int i = 0; i < Count / 2; ++i)
        sum[i] = halved_lanes<Run, Count, false, in_shortest>(p[2 * i], p[2 * i + 1], lanes) +
                 halved_lanes<Run, Count, true, in_shortest>(p[2 * i], p[2 * i + 1], lanes);
      return halved<Count / 2, 2 * Run>(sum);
    }
  }
  static constexpr int chunks = W / in_shortest, rows_of_pack = W / K;
  /// The row whose sum is in lane j of chunk i.
  static constexpr int row_of(int i, int j) {
    const int group = i / rows_of_pack;  // of in_shortest packs, whose chunks are the packs' rows
    return (group * in_shortest + j) * rows_of_pack + i % rows_of_pack;
  }
  static constexpr int lane_of(int row) {
    for (int lane = 0; lane < W; ++lane)
      if (row_of(lane / in_shortest, lane % in_shortest) == row) return lane;
    return -1;
  }
  template <int... Row>
  DRX_HOST_INLINE static pack<T> in_order(pack<T> sums, std::integer_sequence<int, Row...>) {
    return shuffle<lane_of(Row)...>(sums, sums);
  }
  /// Number `Column` of each row; `found` has those of the packs before pack Next.
  template <int Column, int Next, int... Row>
  DRX_HOST_INLINE static pack<T> column(const pack<T>* rows, pack<T> found, std::integer_sequence<int, Row...> all) {
    if constexpr (Next == K) {
      return found;
    } else {
      constexpr auto from = [](int row) {
        const int at = row * K + Column, pack = at / W;
        if (pack == Next) return W + at % W;
        return Next == 1 && pack == 0 ? at : row;
      };
      return column<Column, Next + 1>(rows, shuffle<from(Row)...>(found, rows[Next]), all);
    }
  }
};

}  // namespace drx::run::detail
