// drx/run/fused/sums.hpp: a fused loop that adds up its rows: it sums its results, or its operands, over the rows.
// Tested by tests/unit/run/sums_of_loops.cpp.
#pragma once

#include <drx/run/fused/packs.hpp>
#include <drx/run/packs/long_sums.hpp>

namespace drx::run {

template <class Loop>
struct fused_sums {
  using C = typename Loop::code;
  using packs = fused_packs<Loop>;
  template <class T>
  using pack_operands = typename packs::template operands<T>;

  /// The sums over the loop's rows: of a result or of an operand in memory, possibly with a weight for each row.
  static constexpr int sums = Loop::now.sums;
  static constexpr int sum_entry(int j) { return C::plan.members[Loop::now.first_member + Loop::count + j]; }
  static constexpr bool weighted(int j) { return C::tape.entries[sum_entry(j)].prim == &prim::matmul; }
  static constexpr int summed(int j) { return C::operand(sum_entry(j), 0); }
  template <class T>
  struct sum_operands {
    const T* from[sums == 0 ? 1 : sums];
    const T* weights[sums == 0 ? 1 : sums];
    T* totals[sums == 0 ? 1 : sums];
    template <int... J>
    sum_operands(const workspaces& f, std::integer_sequence<int, J...>)
        : from{memory_of<J>(f)...},
          weights{weights_of<J>(f)...},
          totals{elements<T, C, C::result(sum_entry(J), 0)>(f)...} {}
    template <int J>
    static const T* memory_of(const workspaces& f) {
      if constexpr (C::plan.loop_of[summed(J)] == Loop::step)
        return nullptr;
      else
        return elements<const T, C, summed(J)>(f);
    }
    template <int J>
    static const T* weights_of(const workspaces& f) {
      if constexpr (weighted(J))
        return elements<const T, C, C::operand(sum_entry(J), 1)>(f);
      else
        return nullptr;
    }
  };
  /// Computes one pack of the loop: adds its sums to `total`, then stores the results that leave the loop.
  template <class T, int... M, int... J>
  DRX_HOST_INLINE static void add_packs(pack<T>* total, const pack_operands<T>& at, const sum_operands<T>& of,
                                        std::int64_t row, std::int64_t col, std::integer_sequence<int, M...>,
                                        std::integer_sequence<int, J...>) {
    pack<T> registers[Loop::count];
    (packs::template compute_pack<M, T>(registers, at.pointers, row, col), ...);
    const auto add = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
      pack<T> x;
      if constexpr (C::plan.loop_of[summed(K)] == Loop::step)
        x = registers[C::plan.member_of[summed(K)]];
      else
        x = load(of.from[K] + row * Loop::columns + col);
      if constexpr (weighted(K))
        total[K] += of.weights[K][row] * x;
      else
        total[K] += x;
    };
    (add(std::integral_constant<int, J>{}), ...);
    (packs::template save_pack<M, T>(registers, at.out, row, col), ...);
  }
  static constexpr int part = 128;        // rows whose sums begin anew, since long chains of additions lose digits
  static constexpr int rows_at_once = 8;  // rows for which the sums stay in registers
  static constexpr std::int64_t width = Loop::columns < chunk_of_loop ? Loop::columns : chunk_of_loop;

  /// Runs several rows at a time, so that their sums stay in registers.
  static void run(frame& f) {
    using T = element_of<C, Loop::result(0)>;
    constexpr int height = static_cast<int>(Loop::rows), parts = height / part, rest = height % part;
    const workspaces near(f);
    const pack_operands<T> at(near, typename Loop::entries{}, typename Loop::operands{});
    const sum_operands<T> of(near, std::make_integer_sequence<int, sums>{});
    for (std::int64_t first = 0; first < Loop::columns; first += width) {
      const std::int64_t end = first + width < Loop::columns ? first + width : Loop::columns;
      T* totals[sums];
      for (int j = 0; j < sums; ++j) totals[j] = of.totals[j] + first;
      if constexpr (parts > 0) add_parts<T, parts>(at, of, 0, first, end, totals);
      if constexpr (rest > 0) add_part<T, rest>(at, of, parts * part, first, end, totals, parts == 0);
    }
  }
  /// Stores at `totals` the sums of Parts parts of rows, from row `begin` and column `first` on. With many parts, each
  /// half is added up separately.
  template <class T, int Parts>
  static void add_parts(const pack_operands<T>& at, const sum_operands<T>& of, int begin, std::int64_t first,
                        std::int64_t end, T* const (&totals)[sums]) {
    if constexpr (Parts <= longest_chain) {
      for (int k = 0; k < Parts; ++k) add_part<T, part>(at, of, begin + k * part, first, end, totals, k == 0);
    } else {
      constexpr int half = Parts / 2;
      alignas(64) T sum[sums][width];
      T* second[sums];
      for (int j = 0; j < sums; ++j) second[j] = sum[j];
      add_parts<T, half>(at, of, begin, first, end, totals);
      add_parts<T, Parts - half>(at, of, begin + half * part, first, end, second);
      add_sums<T>(totals, sum, end - first, false);
    }
  }
  /// Sums n columns, and stores the sums at `totals` or adds them to the numbers there.
  template <class T>
  static void add_sums(T* const (&totals)[sums], const T (&sum)[sums][width], std::int64_t n, bool store) {
    for (int j = 0; j < sums; ++j)
      for (std::int64_t col = 0; col < n; ++col) totals[j][col] = store ? sum[j][col] : totals[j][col] + sum[j][col];
  }
  /// Rows from `begin` on, columns from `first` on; `store`: these are the first rows.
  template <class T, int Rows>
  static void add_part(const pack_operands<T>& operands, const sum_operands<T>& all_sums, int begin, std::int64_t first,
                       std::int64_t end, T* const (&totals)[sums], bool store) {
    constexpr int band = rows_at_once, whole = Rows / band, rest = Rows % band;
    const pack_operands<T> at = operands;  // a local copy, which no store can change
    const sum_operands<T> of = all_sums;
    alignas(64) T sum[sums][width] = {};
    for (int k = 0; k < whole; ++k) add_rows<T, band>(sum, at, of, begin + k * band, first, end);
    if constexpr (rest > 0) add_rows<T, rest>(sum, at, of, begin + whole * band, first, end);
    add_sums<T>(totals, sum, end - first, store);
  }
  template <class T, int Rows>
  DRX_HOST_INLINE static void add_rows(T (&sum)[sums][width], const pack_operands<T>& at, const sum_operands<T>& of,
                                       int row, std::int64_t first, std::int64_t end) {
    for (std::int64_t col = first; col < end; col += pack_width<T>) {
      pack<T> total[sums];
      for (int j = 0; j < sums; ++j) total[j] = load(sum[j] + (col - first));
      DRX_UNROLL
      for (int r = 0; r < Rows; ++r)
        add_packs<T>(total, at, of, row + r, col, typename Loop::entries{}, std::make_integer_sequence<int, sums>{});
      for (int j = 0; j < sums; ++j) save(sum[j] + (col - first), total[j]);
    }
  }
};

}  // namespace drx::run
