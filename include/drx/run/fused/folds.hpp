// drx/run/fused/folds.hpp: a fused loop that folds over an axis: sums and extrema of its results and of what it reads,
// whose totals stay in registers while it goes along the axis. Over its last axis it takes sums of rows, as many side
// by side in the end as a pack has lanes. It may read rows of arrays at positions.
// Tested by tests/unit/run/folds_of_loops.cpp.
#pragma once

#include <drx/run/data/dealt.hpp>
#include <drx/run/fused/packs.hpp>
#include <drx/run/packs/not_numbers.hpp>
#include <drx/run/packs/some_lanes.hpp>

namespace drx::run {

template <class Loop>
struct fused_folds {
  using C = typename Loop::code;
  using packs = fused_packs<Loop>;
  using pointers_type = typename Loop::pointers_type;
  using T = element_of<C, Loop::result(0)>;

  // The folds: entries, and what each folds: results of the loop, or what it reads.
  static constexpr int folds = Loop::now.sums;
  static constexpr int fold_entry(int j) { return C::plan.members[Loop::now.first_member + Loop::count + j]; }
  static constexpr int folded(int j) { return C::operand(fold_entry(j), 0); }
  static constexpr bool is_result(int v) { return C::plan.loop_of[v] == Loop::step; }
  static constexpr int made(int j) { return C::result(fold_entry(j), 0); }
  template <const primitive&... P>
  static constexpr bool is(int j) {
    return ((C::tape.entries[fold_entry(j)].prim == &P) || ...);
  }
  static constexpr bool is_sum(int j) { return is<prim::sum>(j); }
  static constexpr bool is_position(int j) { return is<prim::argmax, prim::argmin>(j); }
  static constexpr bool has_extrema = [] {
    bool found = false;
    for (int j = 0; j < folds; ++j) found = found || !is_sum(j);
    return found;
  }();
  template <int J>
  static constexpr bool is_largest = is<prim::max_over, prim::argmax>(J);
  /// Whether the loop stores results beside its folds. (They may lie where it reads, so that it cannot go along the
  /// axis again.)
  static constexpr bool stores = [] {
    bool found = false;
    for (int m = 0; m < Loop::count; ++m) found = found || C::plan.stored[Loop::result(m)];
    return found;
  }();

  static constexpr int axis =
      prim::rules::over_axes::view(C::attributes(fold_entry(0))).axes.number(0);  // over which the loop folds
  static constexpr int last_axis = Loop::loop.rank - 1;
  static constexpr bool sums_rows = axis == last_axis;
  static constexpr std::int64_t length = sums_rows ? 1 : Loop::loop[axis];  // in rows
  /// The loop's axes, of which only the first row along `axis` is gone to, and how many rows these have.
  static constexpr shape around = [] {
    shape s = Loop::loop;
    if (!sums_rows) s[axis] = 1;
    return s;
  }();
  static constexpr std::int64_t rows = Loop::rows / length;

  /// The distances between neighbouring rows of the loop along an axis, in rows.
  static constexpr detail::row_index row_strides = [] {
    detail::row_index strides = Loop::strides_of_rows(Loop::loop);
    for (std::int64_t& s : strides.at) s /= Loop::columns;
    return strides;
  }();
  static constexpr std::int64_t row_distance = sums_rows ? 0 : row_strides.at[axis];  // along the axis
  /// The number of the loop's row at a place of its axes.
  DRX_INLINE static std::int64_t row_number(const detail::row_index& row) {
    constexpr detail::row_index strides = row_strides;
    std::int64_t n = 0;
    for (int a = 0; a < last_axis; ++a) n += row.at[a] * strides.at[a];
    return n;
  }
  template <int Q>
  static constexpr detail::source source_of = Loop::operand(Q / 3, Q % 3);
  static constexpr bool is_operand(int q) {
    return q % 3 < Loop::arity(q / 3) && Loop::operand(q / 3, q % 3).kind == detail::source_kind::memory;
  }
  static constexpr int chosen_by(const detail::source& s) { return C::root(C::operand(C::definition(s.value), 1)); }
  /// The first operand whose rows are taken at the positions of those of operand q.
  static constexpr int with_positions(int q) {
    for (int other = 0; other < q; ++other) {
      if (!is_operand(other)) continue;
      const detail::source a = Loop::operand(other / 3, other % 3), b = Loop::operand(q / 3, q % 3);
      if (a.taken && chosen_by(a) == chosen_by(b)) return other;
    }
    return q;
  }
  /// The loop at the rows along the axis from one place on: the addresses of its operands (of rows taken at positions,
  /// of the array and of the first position), of its results and of its folds.
  struct line {
    pointers_type pointers;
    const void* chosen[3 * Loop::count];
    T* out[Loop::count];
    std::byte* totals[folds];
  };
  /// Operand I of entry M, K lanes from column `col` on, at place k of the axis.
  template <int M, int I, int Lanes>
  DRX_HOST_INLINE static pack<T> load_operand(const pack<T>* registers, const line& at, std::int64_t k,
                                              std::int64_t col) {
    constexpr detail::source s = source_of<3 * M + I>;
    if constexpr (s.kind == detail::source_kind::register_) {
      return registers[s.index];
    } else if constexpr (s.kind == detail::source_kind::literal) {
      return static_cast<T>(s.number) - pack<T>{};
    } else if constexpr (s.taken) {
      constexpr int e = C::definition(s.value), whole = C::operand(e, 0), chosen = C::operand(e, 1);
      using index = element_of<C, chosen>;
      constexpr std::int64_t n = C::values[whole].shape[0];
      const std::int64_t i = static_cast<const index*>(at.chosen[with_positions(3 * M + I)])[k * row_distance];
      return load_first<Lanes>(detail::get<Loop::pointers.of[3 * M + I]>(at.pointers) +
                               prim::indexing::position(i, n) * Loop::columns + col);
    } else {
      constexpr std::int64_t stride = Loop::strides_of_rows(s.from).at[axis];
      const T* const p = detail::get<Loop::pointers.of[3 * M + I]>(at.pointers) + k * stride;
      if constexpr (Loop::is_one_in_row(s.from))
        return *p - pack<T>{};
      else
        return load_first<Lanes>(p + col);
    }
  }

  /// The loop's operand that is value v, each element at its place.
  static constexpr int operand_with(int v) {
    for (int q = 0; q < 3 * Loop::count; ++q)
      if (is_operand(q) && C::operand(Loop::entry(q / 3), q % 3) == v) return Loop::pointers.of[q];
    return -1;
  }
  /// What fold J folds, for a pack whose entries are in `registers`.
  template <int J, int Lanes>
  DRX_HOST_INLINE static pack<T> pack_to_fold(const pack<T>* registers, const line& at, std::int64_t k,
                                              std::int64_t col) {
    if constexpr (is_result(folded(J)))
      return registers[C::plan.member_of[folded(J)]];
    else
      return load_first<Lanes>(detail::get<operand_with(folded(J))>(at.pointers) + k * row_distance * Loop::columns +
                               col);
  }

  /// What the folds have found so far in a pack of columns: totals, the places of extrema as floating numbers, and for
  /// numbers the sum of all, which is a NaN if there is one among them.
  struct totals {
    pack<T> total[folds], place[folds], sum[folds];
  };
  /// In each lane, which of two. (nvcc has no such choice for vectors.)
  template <class Condition, class V>
  DRX_HOST_INLINE static V chosen_lanes(Condition condition, V yes, V no) {
#if defined(__CUDACC__)
    return std::bit_cast<V>((std::bit_cast<Condition>(yes) & condition) | (std::bit_cast<Condition>(no) & ~condition));
#else
    return condition ? yes : no;
#endif
  }
  template <int J>
  DRX_HOST_INLINE static void start(totals& all) {
    T first{};
    if constexpr (!is_sum(J)) first = is_largest<J> ? least_number<T>() : greatest_number<T>();
    all.total[J] = first - pack<T>{};
    all.place[J] = all.sum[J] = pack<T>{};
  }
  template <int J, bool Numbers>
  DRX_HOST_INLINE static void add(totals& all, pack<T> x, std::int64_t k) {
    pack<T>& total = all.total[J];
    if constexpr (is_sum(J)) {
      total += x;
    } else {
      auto better = is_largest<J> ? x > total : x < total;
      if constexpr (Numbers)
        all.sum[J] += x;
      else
        better |= is_position(J) ? (x != x) & (total == total) : x != x;
      total = chosen_lanes(better, x, total);
      if constexpr (is_position(J)) all.place[J] = chosen_lanes(better, pack<T>{} + static_cast<T>(k), all.place[J]);
    }
  }
  /// Writes fold J of Lanes columns from `col` on. With Numbers, returns whether none was a NaN.
  template <int J, int Lanes, bool Numbers>
  DRX_HOST_INLINE static bool finish(const line& at, const totals& all, std::int64_t col) {
    if constexpr (is_position(J)) {
      std::int32_t* const to = reinterpret_cast<std::int32_t*>(at.totals[J]) + col;
      for (int i = 0; i < Lanes; ++i) to[i] = static_cast<std::int32_t>(all.place[J][i]);
    } else {
      detail::save_first<Lanes>(reinterpret_cast<T*>(at.totals[J]) + col, all.total[J]);
    }
    if constexpr (Numbers && !is_sum(J))
      return !has_nan<T>(all.sum[J]);
    else
      return true;
  }
  /// Entry M of Lanes columns from `col` on, at place k of the axis.
  template <int M, int Lanes>
  DRX_HOST_INLINE static void compute(pack<T>* registers, const line& at, std::int64_t k, std::int64_t col) {
    const pack<T> x = load_operand<M, 0, Lanes>(registers, at, k, col);
    if constexpr (Loop::arity(M) == 1)
      registers[M] = detail::computed_packs<packs::operation_of(M), T>(x, x);
    else
      registers[M] =
          detail::computed_packs<packs::operation_of(M), T>(x, load_operand<M, 1, Lanes>(registers, at, k, col));
  }
  template <int M, int Lanes>
  DRX_HOST_INLINE static void store(const pack<T>* registers, const line& at, std::int64_t k, std::int64_t col) {
    if constexpr (C::plan.stored[Loop::result(M)])
      detail::save_first<Lanes>(at.out[M] + k * row_distance * Loop::columns + col, registers[M]);
  }
  /// Computes and folds Lanes columns from `col` on, at place k of the axis.
  template <int Lanes, bool Numbers, int... M, int... J>
  DRX_HOST_INLINE static void fold_pack(const line& at, totals& all, std::int64_t k, std::int64_t col,
                                        std::integer_sequence<int, M...>, std::integer_sequence<int, J...>) {
    pack<T> registers[Loop::count];
    (compute<M, Lanes>(registers, at, k, col), ...);
    (add<J, Numbers>(all, pack_to_fold<J, Lanes>(registers, at, k, col), k), ...);
    (store<M, Lanes>(registers, at, k, col), ...);
  }
  /// Folds columns from `col` on: Count packs, of whose last one Lanes are columns. With Numbers, as if there were no
  /// NaN; returns whether that is so.
  template <int Count, int Lanes, bool Numbers, int... J>
  DRX_HOST_INLINE static bool fold_columns(const line& at, std::int64_t col,
                                           std::integer_sequence<int, J...> all_folds) {
    constexpr int width = pack_width<T>, whole = Lanes == width ? Count : Count - 1;  // packs
    constexpr typename Loop::entries entries{};
    totals all[Count];
    DRX_UNROLL
    for (int p = 0; p < Count; ++p) (start<J>(all[p]), ...);
    for (std::int64_t k = 0; k < length; ++k) {
      DRX_UNROLL
      for (int p = 0; p < whole; ++p) fold_pack<width, Numbers>(at, all[p], k, col + p * width, entries, all_folds);
      if constexpr (whole < Count)
        fold_pack<Lanes, Numbers>(at, all[whole], k, col + whole * width, entries, all_folds);
    }
    bool are_numbers = true;
    DRX_UNROLL
    for (int p = 0; p < whole; ++p)
      are_numbers = (int{finish<J, width, Numbers>(at, all[p], col + p * width)} & ... & int{are_numbers}) != 0;
    if constexpr (whole < Count)
      are_numbers = (int{finish<J, Lanes, Numbers>(at, all[whole], col + whole * width)} & ... & int{are_numbers}) != 0;
    return are_numbers;
  }
  template <int Count, int Lanes>
  DRX_HOST_INLINE static void fold_columns(const line& at, std::int64_t col) {
    constexpr std::make_integer_sequence<int, folds> all{};
    if constexpr (has_extrema && !stores)
      if (fold_columns<Count, Lanes, true>(at, col, all)) return;
    fold_columns<Count, Lanes, false>(at, col, all);
  }

  /// Packs whose totals stay in registers.
  static constexpr int at_once = folds > 2 ? 2 : 4;
  /// The rows along the axis from one place of the others on.
  DRX_HOST_INLINE static void run_line(const line& at) {
    constexpr std::int64_t width = pack_width<T>, whole = Loop::columns / (at_once * width) * (at_once * width),
                           rest = Loop::columns - whole;
    for (std::int64_t col = 0; col < whole; col += at_once * width)
      fold_columns<at_once, static_cast<int>(width)>(at, col);
    if constexpr (rest > 0)
      fold_columns<static_cast<int>((rest + width - 1) / width), static_cast<int>((rest - 1) % width + 1)>(at, whole);
  }
  /// The addresses of all at the loop's first row.
  template <int... M, int... Q, int... J>
  static line first_line(const workspaces& f, std::integer_sequence<int, M...>, std::integer_sequence<int, Q...>,
                         std::integer_sequence<int, J...>) {
    line at{};
    const auto point = [&]<int K>(std::integral_constant<int, K>) {
      constexpr detail::source s = source_of<K>;
      if constexpr (s.taken) {
        constexpr int e = C::definition(s.value), whole = C::operand(e, 0), chosen = C::operand(e, 1);
        detail::get<K>(at.pointers) = elements<T, C, whole>(f);
        at.chosen[K] = elements<const element_of<C, chosen>, C, chosen>(f);
      } else {
        detail::get<K>(at.pointers) = elements<T, C, s.value>(f);
      }
    };
    (point(std::integral_constant<int, Q>{}), ...);
    ((at.out[M] = reinterpret_cast<T*>(Loop::template store_address<M>(f))), ...);
    ((at.totals[J] = address<C, made(J)>(f)), ...);
    return at;
  }
  /// The same at place number r around the axis, which is `row`.
  template <int... M, int... Q, int... J>
  DRX_HOST_INLINE static line moved_to(const line& first, std::int64_t r, const detail::row_index& row,
                                       std::integer_sequence<int, M...>, std::integer_sequence<int, Q...>,
                                       std::integer_sequence<int, J...>) {
    line at = first;
    const std::int64_t number = row_number(row);
    const auto move = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
      constexpr detail::source s = source_of<K>;
      if constexpr (s.taken)
        at.chosen[K] =
            static_cast<const element_of<C, C::operand(C::definition(s.value), 1)>*>(first.chosen[K]) + number;
      else
        detail::get<K>(at.pointers) += Loop::template row_start<K>(row);
    };
    (move(std::integral_constant<int, Q>{}), ...);
    ((at.out[M] = C::plan.stored[Loop::result(M)] ? first.out[M] + number * Loop::columns : nullptr), ...);
    constexpr std::int64_t made_by_row = sums_rows ? 1 : Loop::columns;
    ((at.totals[J] += r * made_by_row * static_cast<std::int64_t>(sizeof(element_of<C, made(J)>))), ...);
    return at;
  }
  /// The sums of a row's packs, lane by lane, in the order of fold_packs_of_rows.
  template <int... M, int... J>
  DRX_HOST_INLINE static void sum_row(const line& at, pack<T>* total, std::integer_sequence<int, M...>,
                                      std::integer_sequence<int, J...>) {
    constexpr int width = pack_width<T>;
    for (std::int64_t col = 0; col < Loop::columns; col += width) {
      pack<T> registers[Loop::count];
      (compute<M, width>(registers, at, 0, col), ...);
      ((total[J] = col == 0 ? pack_to_fold<J, width>(registers, at, 0, col)
                            : total[J] + pack_to_fold<J, width>(registers, at, 0, col)),
       ...);
      (store<M, width>(registers, at, 0, col), ...);
    }
  }
  /// Number `first` to before `end` of the rows, which are whole packs of rows: their sums.
  static void run_rows(const frame& f, std::int64_t first, std::int64_t end) {
    constexpr int width = pack_width<T>;
    constexpr typename Loop::entries entries{};
    constexpr typename Loop::operands operands{};
    constexpr std::make_integer_sequence<int, folds> all{};
    static_assert(rows % width == 0 && Loop::columns % width == 0);
    const line start = first_line(workspaces(f), entries, operands, all);
    detail::row_index row = detail::row_at(first, around, last_axis);
    for (std::int64_t r = first; r < end; r += width) {
      pack<T> total[width][folds], turned[width];
      for (int i = 0; i < width; ++i, detail::to_next_row(row, around, last_axis))
        sum_row(moved_to(start, r + i, row, entries, operands, all), total[i], entries, all);
      for (int j = 0; j < folds; ++j) {
        DRX_UNROLL
        for (int i = 0; i < width; ++i) turned[i] = total[i][j];
        save(reinterpret_cast<T*>(start.totals[j]) + r, detail::sums_of_all_lanes<T>(turned));
      }
    }
  }
  /// Number `first` to before `end` of the places around the axis.
  static void run_lines(const frame& f, std::int64_t first, std::int64_t end) {
    constexpr typename Loop::entries entries{};
    constexpr typename Loop::operands operands{};
    constexpr std::make_integer_sequence<int, folds> all{};
    const line start = first_line(workspaces(f), entries, operands, all);
    detail::row_index row = detail::row_at(first, around, last_axis);
    for (std::int64_t r = first; r < end; ++r, detail::to_next_row(row, around, last_axis))
      run_line(moved_to(start, r, row, entries, operands, all));
  }
  static void run(frame& f) {
    constexpr bool is_dealt = Loop::loop.size() >= machine::least_dealt_numbers && rows > 1;
    if constexpr (sums_rows) {
      constexpr std::int64_t width = pack_width<T>;
      if constexpr (is_dealt)
        deal(f, rows / width, [&](std::int64_t first, std::int64_t end) { run_rows(f, first * width, end * width); });
      else
        run_rows(f, 0, rows);
    } else if constexpr (is_dealt) {
      deal(f, rows, [&](std::int64_t first, std::int64_t end) { run_lines(f, first, end); });
    } else {
      run_lines(f, 0, rows);
    }
  }
};

}  // namespace drx::run
