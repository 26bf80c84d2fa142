// drx/run/data/rearranged_rows.hpp: the rows of rearrangements (plan/memory/rearrangements.hpp), read where their
// operands have them.
// Tested by tests/unit/run/rearrangements.cpp.
#pragma once

#include <drx/run/data/frame.hpp>

#include <cstring>
#include <limits>

namespace drx::run {

/// Whether value V is a rearrangement that is not stored.
template <class C, int V>
inline constexpr bool is_rearranged = plan::is_unstored_rearrangement(C::tape.view(), C::plan, V);

/// The rows of an array of this shape: its axes from `split` on, merged. A row consists of segments of axis `split`,
/// each of which lies side by side in every rearrangement that is read.
struct rearranged_rows {
  shape extents = {};
  int split = 0, segments = 1;
  std::int64_t first[machine::most_pieces + 1] = {};  // by segment, in positions of axis `split`; then its extent

  [[nodiscard]] constexpr std::int64_t below() const { return plan::elements_below(extents, split); }
  [[nodiscard]] constexpr std::int64_t columns() const { return extents.rank == 0 ? 1 : extents[split] * below(); }
  [[nodiscard]] constexpr std::int64_t rows() const {
    std::int64_t n = 1;
    for (int axis = 0; axis < split; ++axis) n *= extents[axis];
    return n;
  }
  [[nodiscard]] constexpr std::int64_t column(int segment) const { return first[segment] * below(); }
  [[nodiscard]] constexpr std::int64_t size(int segment) const {
    return (first[segment + 1] - first[segment]) * below();
  }
};

namespace detail {

/// Adds the positions of axis `axis` at which a rearrangement begins a new piece. The rearrangement's positions from
/// `low` to before `high` are read; position i is position i + shift of the loop.
template <class C>
constexpr void add_cuts(vec<std::int64_t>& cuts, int e, int axis, std::int64_t low, std::int64_t high,
                        std::int64_t shift) {
  const plan::rearrangement w(C::tape.view(), C::tape.entries[e]);
  const auto below = [&](int v, std::int64_t from, std::int64_t to, std::int64_t by) {
    if (plan::is_unstored_rearrangement(C::tape.view(), C::plan, v))
      add_cuts<C>(cuts, C::definition(v), axis, from, to, by);
  };
  for (int k = 0; k < w.pieces(axis); ++k) {
    const plan::rearranged_piece p = w.piece(axis, k);
    const std::int64_t from = p.begin > low ? p.begin : low, to = p.end < high ? p.end : high;
    if (from >= to) continue;
    if (from > low) cuts.push_back(from + shift);
    if (p.operand == plan::rearranged_piece::zeros) continue;
    for (int i = 0; i < w.operands(); ++i)
      if (p.operand == plan::rearranged_piece::each || p.operand == i)
        below(w.operand(i), p.start + from - p.begin, p.start + to - p.begin, shift + p.begin - p.start);
  }
}
/// The first axis from which on all pieces of a rearrangement, and of those it reads, lie side by side.
template <class C>
constexpr int first_contiguous(int e) {
  const plan::rearrangement w(C::tape.view(), C::tape.entries[e]);
  int first = w.first_contiguous();
  for (int i = 0; i < w.operands(); ++i) {
    if (!plan::is_unstored_rearrangement(C::tape.view(), C::plan, w.operand(i))) continue;
    const int other = first_contiguous<C>(C::definition(w.operand(i)));
    first = other > first ? other : first;
  }
  return first;
}
/// The rows of an array of shape `extents` that reads the rearrangements `entries`, whose axes from `split` on lie side
/// by side. Rows of at least `enough` numbers are no longer than needed, and of at most `most` segments where they can.
template <class C>
constexpr rearranged_rows rows_of_rearrangements(const shape& extents, int split, const vec<int>& entries,
                                                 std::int64_t enough, int most) {
  rearranged_rows r{.extents = extents, .split = split};
  while (r.split + 1 < extents.rank && r.below() >= enough) ++r.split;
  for (;; ++r.split) {
    vec<std::int64_t> cuts{0};
    for (int e : entries) add_cuts<C>(cuts, e, r.split, 0, extents[r.split], 0);
    vec<std::int64_t> sorted;
    for (std::int64_t next = 0; next < extents[r.split];) {
      sorted.push_back(next);
      std::int64_t after = extents[r.split];
      for (std::int64_t c : cuts) after = c > next && c < after ? c : after;
      next = after;
    }
    if (sorted.size() > most && r.split + 1 < extents.rank) continue;
    r.segments = sorted.size();
    for (int i = 0; i < r.segments; ++i) r.first[i] = sorted[i];
    r.first[r.segments] = extents[r.split];
    return r;
  }
}

/// A position of an array: its indices along the axes before `split`.
struct row_index {
  std::int64_t at[shape::max_rank] = {};
};

// Facts about rearrangements, each a constant by itself, since device code must not name the tape.
template <class C, int E, int Axis, int K>
inline constexpr plan::rearranged_piece rearranged_piece_of =
    plan::rearrangement(C::tape.view(), C::tape.entries[E]).piece(Axis, K);
template <class C, int E, int Axis, std::int64_t I>
inline constexpr int piece_at = plan::rearrangement(C::tape.view(), C::tape.entries[E]).piece_at(Axis, I);

template <class C, int V, int Split, std::int64_t First, class Frame>
DRX_INLINE const element_of<C, V>* element_at(const Frame& f, const row_index& row);

/// The element of entry E, a rearrangement, at `row` and, from axis Axis on, where the axes before have led: at operand
/// Operand, and there at `from`.
template <class C, int E, int Split, std::int64_t First, int Axis, int Operand, std::int64_t Start, class Frame>
DRX_INLINE const element_of<C, C::result(E, 0)>* rearranged_element(const Frame& f, const row_index& row,
                                                                    row_index& from) {
  using T = element_of<C, C::result(E, 0)>;
  constexpr int rank = C::values[C::result(E, 0)].shape.rank;
  if constexpr (Axis == rank || Axis > Split) {
    return element_at<C, C::operand(E, Operand < 0 ? 0 : Operand), Split, Start>(f, from);
  } else if constexpr (Axis == Split) {
    constexpr plan::rearranged_piece p = rearranged_piece_of<C, E, Axis, piece_at<C, E, Axis, First>>;
    if constexpr (p.operand == plan::rearranged_piece::zeros)
      return nullptr;
    else
      return rearranged_element < C, E, Split, First, Axis + 1,
             p.operand == plan::rearranged_piece::each ? Operand : p.operand,
             p.start + First - p.begin > (f, row, from);
  } else {
    const std::int64_t i = row.at[Axis];
    const T* found = nullptr;
    const auto look = [&]<int K>(auto& self, std::integral_constant<int, K>) __attribute__((always_inline)) -> void {
      constexpr plan::rearranged_piece p = rearranged_piece_of<C, E, Axis, K>;
      constexpr bool last = p.end == C::values[C::result(E, 0)].shape[Axis];
      if (p.begin < p.end && (last || i < p.end)) {
        if constexpr (p.operand != plan::rearranged_piece::zeros && p.begin < p.end) {
          if (p.every != 1 && (i - p.begin) % p.every != 0) return;
          from.at[Axis] = p.start + (i - p.begin) / p.every * p.step;
          found = rearranged_element < C, E, Split, First, Axis + 1,
          p.operand == plan::rearranged_piece::each ? Operand : p.operand, Start > (f, row, from);
        }
      } else if constexpr (!last) {
        self(self, std::integral_constant<int, K + 1>{});
      }
    };
    look(look, std::integral_constant<int, 0>{});
    return found;
  }
}
/// The element of entry E, a rearrangement, stored or not, at `row`, at position First of axis Split, and at 0 of the
/// axes after that one; null where that is a zero beside a padded operand.
template <class C, int E, int Split, std::int64_t First, class Frame>
DRX_INLINE const element_of<C, C::result(E, 0)>* rearranged_element(const Frame& f, const row_index& row) {
  row_index from;
  return rearranged_element<C, E, Split, First, 0, plan::rearranged_piece::each, 0>(f, row, from);
}
/// The same of value V, in memory or a rearrangement.
template <class C, int V, int Split, std::int64_t First, class Frame>
DRX_INLINE const element_of<C, V>* element_at(const Frame& f, const row_index& row) {
  if constexpr (is_rearranged<C, V>) {
    constexpr int e = C::definition(V);
    return rearranged_element<C, e, Split, First>(f, row);
  } else {
    constexpr shape s = C::values[V].shape;
    std::int64_t at = 0;
    for (int axis = 0; axis < Split && axis < s.rank; ++axis) at = at * s[axis] + row.at[axis];
    if constexpr (Split < s.rank) at = (at * s[Split] + First) * plan::elements_below(s, Split);
    return elements<const element_of<C, V>, C, V>(f) + at;
  }
}

/// N zeros that loops read beside padded operands; nothing writes there.
template <class T, std::int64_t N>
alignas(64) inline T zeros_beside[N];

/// Row number r of an array of shape `extents`, of its axes before `split`.
constexpr row_index row_at(std::int64_t r, const shape& extents, int split) {
  row_index row;
  for (int axis = split - 1; axis >= 0; r /= extents[axis--]) row.at[axis] = r % extents[axis];
  return row;
}
/// The next row, of an array of shape `extents`, of its axes before `split`.
constexpr void to_next_row(row_index& row, const shape& extents, int split) {
  for (int axis = split - 1; axis >= 0; --axis) {
    if (++row.at[axis] < extents[axis]) return;
    row.at[axis] = 0;
  }
}
}  // namespace detail

/// Whether step E is a rearrangement that is copied row by row, from operands that may be rearrangements, too. (Others
/// have kernels.)
template <class C, int E>
inline constexpr bool copies_rows = plan::is_rearrangement(C::tape.view(), C::tape.entries[E]);

/// Writes the result of such a step.
template <class C, int E>
void copy_rearranged(frame& f) {
  constexpr int y = C::result(E, 0);
  using T = element_of<C, y>;
  static constexpr rearranged_rows rows =
      detail::rows_of_rearrangements<C>(C::values[y].shape, detail::first_contiguous<C>(E), {E},
                                        std::numeric_limits<std::int64_t>::max(), machine::most_pieces);
  T* to = elements<T, C, y>(f);
  detail::row_index row;
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    unroll<rows.segments>([&]<int S>(std::integral_constant<int, S>) __attribute__((always_inline)) {
      constexpr std::size_t bytes = static_cast<std::size_t>(rows.size(S)) * sizeof(T);
      const T* from = detail::rearranged_element<C, E, rows.split, rows.first[S]>(f, row);
      if (!from)
        std::memset(to, 0, bytes);
      else if (from != to)  // (else it was written there: plan/memory/joined_values.hpp)
        std::memcpy(to, from, bytes);
      to += rows.size(S);
    });
    detail::to_next_row(row, rows.extents, rows.split);
  }
}

}  // namespace drx::run
