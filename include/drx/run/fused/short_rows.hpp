// drx/run/fused/short_rows.hpp: a fused loop over short rows. Row by row it would have scalar remainders and restart
// each time; instead, operands broadcast along rows or columns are written out first, and several rows are one loop.
// Tested by tests/unit/run/short_rows.cpp and tests/unit/run/runs_of_rows.cpp.
#pragma once

#include <drx/run/fused/elements.hpp>

#include <algorithm>
#include <cstring>

namespace drx::run {

template <class Loop>
struct fused_short_rows {
  using C = typename Loop::code;
  using pointers_type = typename Loop::pointers_type;
  using elements_of = fused_elements<Loop>;

  /// A row's columns up to whole vectors of T: a row is written so far, and the next row over its end.
  template <class T>
  static constexpr std::int64_t whole_vectors = [] {
    std::int64_t lanes = 1;
    while (lanes < Loop::columns && lanes * static_cast<std::int64_t>(sizeof(T)) < machine::cache_line) lanes *= 2;
    return (Loop::columns + lanes - 1) / lanes * lanes;
  }();
  /// N numbers of operand Q, written out.
  template <int Q, std::int64_t N>
  struct numbers {
    static constexpr bool used = Loop::written_out(Loop::operand(Q / 3, Q % 3));
    using type = std::remove_cvref_t<decltype(*Loop::template pointer_type<Q>())>;
    alignas(64) type elements[used ? N + whole_vectors<type> - Loop::columns : 1];
  };
  /// Writes n rows of an operand, which lie Step apart, or rows of one number each, repeated. A row is written as whole
  /// vectors, and the next one over its end.
  template <class T, std::int64_t Step, bool OneInRow>
  DRX_HOST_INLINE static void write_rows(const T* from, std::int64_t n, T* to) {
    constexpr std::int64_t columns = Loop::columns;
    if constexpr (OneInRow && Step == 0) {
      std::fill_n(to, n * columns, *from);
    } else if constexpr (OneInRow) {
      for (std::int64_t r = 0; r < n; ++r, from += Step, to += columns) {
        const T one = *from;
        for (std::int64_t c = 0; c < whole_vectors<T>; ++c) to[c] = one;
      }
    } else if constexpr (Step == columns) {
      std::memcpy(to, from, static_cast<std::size_t>(n * columns) * sizeof(T));
    } else if constexpr (Step == 0) {  // the row is kept in vectors
      alignas(64) T row[whole_vectors<T>] = {};
      for (std::int64_t c = 0; c < columns; ++c) row[c] = from[c];
      for (std::int64_t r = 0; r < n; ++r, to += columns)
        for (std::int64_t c = 0; c < whole_vectors<T>; ++c) to[c] = row[c];
    } else {
      for (std::int64_t r = 0; r < n; ++r, from += Step, to += columns)
        for (std::int64_t c = 0; c < columns; ++c) to[c] = from[c];
    }
  }
  /// From how many rows on a run is written at once: finding a row's place anew takes as long as writing a few.
  static constexpr std::int64_t least_run = 8;
  /// Band rows from row `first` on as one loop.
  template <std::int64_t Band, int... M, int... K>
  static void run_band(const workspaces& f, std::int64_t first, std::integer_sequence<int, M...>,
                       std::integer_sequence<int, K...>) {
    constexpr std::int64_t size = Band * Loop::columns;
    detail::register_file<std::integer_sequence<int, K...>, numbers<K, size>...> written;
    pointers_type pointers{};
    auto point = [&]<int Q>(std::integral_constant<int, Q>) {
      constexpr detail::source s = Loop::operand(Q / 3, Q % 3);
      if constexpr (Loop::written_out(s)) {
        using T = typename numbers<Q, size>::type;
        T* to = detail::get<Q>(written).elements;
        constexpr auto runs = Loop::runs_of_rows(s.from);
        constexpr bool in_runs = s.kind == detail::source_kind::memory && !s.rearranged && runs.rows >= least_run;
        detail::row_index row;
        if constexpr (s.kind == detail::source_kind::memory && !in_runs)
          row = detail::row_at(first, Loop::loop, Loop::by_rows.split);
        for (std::int64_t r = first, n = 1; r < first + Band; r += n, to += n * Loop::columns) {
          if constexpr (in_runs) {
            n = std::min(runs.rows - r % runs.rows, first + Band - r);
            write_rows<T, runs.step, Loop::is_one_in_row(s.from)>(
                elements<T, C, s.value>(f) + Loop::row_start(s.from, r), n, to);
          } else if constexpr (s.rearranged) {
            unroll<Loop::segments>([&]<int S>(std::integral_constant<int, S>) {
              const T* from = Loop::template rearranged_row<s.value, S>(f, row);
              for (std::int64_t c = 0; c < Loop::template segment_size<S>; ++c)
                to[Loop::template column<S> + c] = from[c];
            });
            detail::to_next_row(row, Loop::loop, Loop::by_rows.split);
          } else if constexpr (s.kind == detail::source_kind::position) {
            for (std::int64_t c = 0; c < Loop::columns; ++c) to[c] = elements_of::template position<T, s.axis>(r, c);
          } else {
            const T* from = elements<T, C, s.value>(f) + Loop::template row_start<Q>(row);
            write_rows<T, 1, Loop::is_one_in_row(s.from)>(from, 1, to);
            detail::to_next_row(row, Loop::loop, Loop::by_rows.split);
          }
        }
        detail::get<Q>(pointers) =
            reinterpret_cast<const T*>(unrelated(reinterpret_cast<std::byte*>(detail::get<Q>(written).elements)));
      } else {
        detail::get<Q>(pointers) =
            elements<element_of<C, s.value>, C, s.value>(f) + (s.from.size() == 1 ? 0 : first * Loop::columns);
      }
    };
    (point(std::integral_constant<int, K>{}), ...);
    constexpr std::int64_t widths[] = {static_cast<std::int64_t>(sizeof(element_of<C, Loop::result(M)>))...};
    std::byte* const out[] = {(C::plan.stored[Loop::result(M)]
                                   ? Loop::template store_address<M>(f) + first * Loop::columns * widths[M]
                                   : nullptr)...};
    elements_of::template run_row<size, M...>(out, pointers, 0);
  }

  /// The whole loop: entries M, operands K.
  template <int... M, int... K>
  static void run(frame& f, std::integer_sequence<int, M...> entries, std::integer_sequence<int, K...> operands) {
    constexpr std::int64_t band = Loop::columns < chunk_of_loop ? chunk_of_loop / Loop::columns : 1;
    constexpr std::int64_t rest = Loop::rows % band;
    const workspaces near(f);
    for (std::int64_t r = 0; r < Loop::rows - rest; r += band) run_band<band>(near, r, entries, operands);
    if constexpr (rest > 0) run_band<rest>(near, Loop::rows - rest, entries, operands);
  }
};

}  // namespace drx::run
