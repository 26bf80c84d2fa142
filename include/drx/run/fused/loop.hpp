// drx/run/fused/loop.hpp: the facts about a fused loop: its rows and columns, and the source of each entry's operands.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/meta/indices.hpp>
#include <drx/plan/machine.hpp>
#include <drx/run/data/rearranged_rows.hpp>

#include <type_traits>
#include <utility>

namespace drx::run {

namespace detail {

enum class source_kind : std::int8_t { none, register_, literal, position, memory, tile };

/// The source of a fused entry's operand.
struct source {
  source_kind kind = source_kind::none;
  int index = 0;            // for a register
  double number = 0;        // for a literal
  int value = -1;           // for memory
  int axis = 0;             // for a position
  shape from = {};          // the shape in memory, to be broadcast
  bool rearranged = false;  // memory of a rearrangement's operands, and `value` the rearrangement
  bool taken = false;       // rows of an array at positions, and `value` the result of the `take` that tells which
};

/// The loop, of the two that a fused loop with long functions becomes, in which an entry is computed.
enum class half : std::int8_t {
  first,  // in both: it depends on no long function
  ended,  // a long function, begun in the first and ended in the second
  second
};
template <int Count>
struct halves {  // by entry
  half of[Count] = {};
};

/// By operand, three to an entry: the first one that reads the same numbers in memory, whose pointer serves all of
/// them, and whether it is that one itself. Compilers then see that they are the same: a sine and a cosine of one
/// number reduce it once.
template <int Count>
struct operand_pointers {
  int of[Count] = {};
  bool own[Count] = {};
};

/// The source of a value that is not read from memory: a constant or an iota. For others its kind is none.
template <class C>
constexpr source generated_source(int e) {
  source s;
  const primitive* p = C::tape.entries[e].prim;
  if (p == &prim::constant) {
    s.kind = source_kind::literal;
    s.number = C::tape.entries[e].number;
  } else if (p == &prim::iota) {
    s.kind = source_kind::position;
    s.axis = prim::rules::iota::view(C::attributes(e)).axis;
  }
  return s;
}

/// A number for each of several entries or operands, of any types: like a std::tuple, but cheaper to compile.
template <int I, class T>
struct register_leaf {
  T v;
};
template <class Seq, class... T>
struct register_file;
template <int... I, class... T>
struct register_file<std::integer_sequence<int, I...>, T...> : register_leaf<I, T>... {};
template <int I, class T>
DRX_INLINE T& get(register_leaf<I, T>& r) {
  return r.v;
}
template <int I, class T>
DRX_INLINE const T& get(const register_leaf<I, T>& r) {
  return r.v;
}

}  // namespace detail

/// The numbers that a loop computes at a time if it keeps intermediate ones, which then stay in the first cache.
inline constexpr std::int64_t chunk_of_loop = 512;

/// The fused loop of step Step of a program.
template <class C, int Step>
struct fused_loop {
  using code = C;
  static constexpr int step = Step;
  static constexpr plan::step now = C::plan.steps[Step];
  // The loop's entries, by their place in it, and their results.
  static constexpr int count = now.members;
  static constexpr int entry(int m) { return C::plan.members[now.first_member + m]; }
  static constexpr int result(int m) { return C::result(entry(m), 0); }
  static constexpr shape loop = C::values[result(0)].shape;

  /// The source of value v, seen through broadcasts, which are not stored.
  static constexpr detail::source read(int v, bool through_broadcast) {
    detail::source s;
    s.from = C::values[v].shape;
    if (C::plan.loop_of[v] == Step && !through_broadcast) {  // (a carry written in place has another root)
      s.index = C::plan.member_of[v];
      s.kind = detail::source_kind::register_;
      return s;
    }
    s.value = C::root(v);
    s.kind = detail::source_kind::memory;
    const int e = C::plan.stored[s.value] ? -1 : C::definition(s.value);
    if (e < 0) return s;
    if (C::tape.entries[e].prim == &prim::broadcast_to) return read(C::operand(e, 0), true);
    s.rearranged = C::tape.entries[e].prim->role == role::rearranged;
    s.taken = C::tape.entries[e].prim == &prim::take;
    const detail::source generated = detail::generated_source<C>(e);
    return generated.kind == detail::source_kind::none ? s : generated;
  }
  /// The source of operand i of entry m; for an entry without operands, its value.
  static constexpr detail::source operand(int m, int i) {
    const int e = entry(m);
    detail::source s = detail::generated_source<C>(e);
    if (C::tape.entries[e].prim == &prim::matmul) s.kind = detail::source_kind::tile;
    if (s.kind != detail::source_kind::none) return s;
    return read(C::operand(e, i), C::tape.entries[e].prim == &prim::broadcast_to);
  }
  static constexpr const primitive* primitive_of(int m) { return C::tape.entries[entry(m)].prim; }
  /// Whether entry m is one of these primitives. (A local constexpr pointer to a primitive would be stored where code
  /// is not optimised: with it came all rules, which were compiled into each program.)
  template <const primitive&... P>
  static constexpr bool is(int m) {
    return ((primitive_of(m) == &P) || ...);
  }
  /// The number of operands of entry m; an entry without operands has its value.
  static constexpr int arity(int m) {
    const int n = C::tape.entries[entry(m)].operands.count;
    return n == 0 || C::tape.entries[entry(m)].prim == &prim::matmul ? 1 : n;
  }
  static constexpr detail::operand_pointers<3 * count> pointers = [] {
    detail::operand_pointers<3 * count> p;
    detail::source from[3 * count + 1] = {};
    for (int q = 0; q < 3 * count; ++q) {
      p.of[q] = q;
      if (q % 3 >= arity(q / 3)) continue;
      from[q] = operand(q / 3, q % 3);
      for (int first = 0; first < q && p.of[q] == q && from[q].kind == detail::source_kind::memory; ++first)
        if (from[first].kind == from[q].kind && from[first].value == from[q].value && from[first].from == from[q].from)
          p.of[q] = first;
      p.own[q] = p.of[q] == q;
    }
    return p;
  }();
  /// Whether the loop's first entry is a matrix product.
  static constexpr bool after_product = C::tape.entries[entry(0)].prim == &prim::matmul;

  /// Whether each operand in memory is read in the order of the loop or is one number: then the loop needs no rows.
  static constexpr bool flat = [] {
    if (after_product || now.sums > 0) return false;
    for (int m = 0; m < count; ++m)
      for (int i = 0; i < arity(m); ++i) {
        const detail::source s = operand(m, i);
        if (s.kind == detail::source_kind::position) return false;
        if (s.rearranged) return false;
        if (s.kind == detail::source_kind::memory && !(s.from == loop) && s.from.size() != 1) return false;
      }
    return true;
  }();
  /// Whether an operand is a rearrangement, of which each row is read where it lies.
  static constexpr bool has_rearranged = [] {
    for (int m = 0; m < count; ++m)
      for (int i = 0; i < arity(m); ++i)
        if (operand(m, i).rearranged) return true;
    return false;
  }();
  /// The first axis of the loop from which on an operand of this shape is whole, or one number.
  static constexpr int first_even_axis(const shape& from) {
    const int front = loop.rank - from.rank;  // axes of the loop that the operand does not have
    int whole = loop.rank, one = loop.rank;
    while (whole > front && from[whole - 1 - front] == loop[whole - 1]) --whole;
    while (one > front && from[one - 1 - front] == 1) --one;
    if (one == front) one = 0;
    return whole < one ? whole : one;
  }
  /// Segments of a row for which a loop is compiled.
  static constexpr int most_segments = 8;
  /// The rows of a loop that is not flat: its last axis of several numbers, or with rearrangements more axes, along
  /// which all operands are whole or one number.
  static constexpr rearranged_rows by_rows = [] {
    int last = loop.rank == 0 ? 0 : loop.rank - 1;
    while (last > 0 && loop[last] == 1) --last;  // a row of one number is none to go along
    rearranged_rows r{.extents = loop, .split = last};
    r.first[1] = loop.rank == 0 ? 1 : loop[last];
    if (!has_rearranged) return r;
    int split = 0;
    vec<int> rearrangements;
    const auto from = [&](int axis) { split = axis > split ? axis : split; };
    for (int m = 0; m < count; ++m)
      for (int i = 0; i < arity(m); ++i) {
        const detail::source s = operand(m, i);
        if (s.kind == detail::source_kind::position) from(last);
        if (s.kind != detail::source_kind::memory) continue;
        if (!s.rearranged) from(first_even_axis(s.from));
        if (!s.rearranged || rearrangements.find(C::definition(s.value)) >= 0) continue;
        rearrangements.push_back(C::definition(s.value));
        from(detail::first_contiguous<C>(rearrangements.back()));
      }
    return detail::rows_of_rearrangements<C>(loop, split, rearrangements, chunk_of_loop, most_segments);
  }();
  static constexpr std::int64_t columns = flat ? loop.size() : by_rows.columns();
  static constexpr std::int64_t rows = columns == 0 ? 0 : loop.size() / columns;
  // The segments of a row, which are compiled apart.
  static constexpr int segments = has_rearranged ? by_rows.segments : 1;
  template <int S>
  static constexpr std::int64_t column = has_rearranged ? by_rows.column(S) : 0;
  template <int S>
  static constexpr std::int64_t segment_size = has_rearranged ? by_rows.size(S) : columns;
  /// Whether rows are so short, and not whole packs, that several of them are better one loop.
  static constexpr bool short_rows = !flat && rows > 1 &&
                                     columns < machine::long_row&& columns % (machine::widest_vector / 2) != 0;
  /// Whether an operand is written out, row by row, before a loop over short rows.
  static constexpr bool written_out(const detail::source& s) {
    const bool in_order =
        s.kind == detail::source_kind::memory && !s.rearranged && (s.from == loop || s.from.size() == 1);
    return short_rows && !in_order &&
           (s.kind == detail::source_kind::memory || s.kind == detail::source_kind::position);
  }

  /// Whether a row of an operand of this shape is one number.
  static constexpr bool is_one_in_row(const shape& from) {
    if (from.size() == 1) return true;
    if (flat || from == loop) return false;
    for (int axis = by_rows.split; axis < loop.rank; ++axis)
      if (axis >= loop.rank - from.rank && from[axis - (loop.rank - from.rank)] != 1) return false;
    return true;
  }
  /// The position in memory at which row r of a source of shape `from` begins.
  static constexpr std::int64_t row_start(const shape& from, std::int64_t r) {
    if (flat) return 0;
    std::int64_t at = 0, stride = 1;
    for (int axis = loop.rank - 1; axis >= by_rows.split && axis >= loop.rank - from.rank; --axis)
      stride *= from[axis - (loop.rank - from.rank)];
    for (int axis = by_rows.split - 1; axis >= 0; --axis) {
      const std::int64_t i = r % loop[axis];
      r /= loop[axis];
      const int own = axis - (loop.rank - from.rank);
      if (own < 0) break;
      if (from[own] != 1) at += i * stride;
      stride *= from[own];
    }
    return at;
  }

  /// The distances in memory of an operand of shape `from` between neighbours along the axes before a row.
  static constexpr detail::row_index strides_of_rows(const shape& from) {
    detail::row_index stride;
    std::int64_t n = 1;
    for (int axis = loop.rank - 1, own = from.rank - 1; own >= 0; --axis, n *= from[own--])
      if (axis < by_rows.split && from[own] != 1) stride.at[axis] = n;
    return stride;
  }
  /// The position in memory at which a row of operand Q of the loop begins.
  template <int Q>
  DRX_INLINE static std::int64_t row_start(const detail::row_index& row) {
    std::int64_t at = 0;
    if constexpr (!flat) {
      constexpr detail::row_index stride = strides_of_rows(operand(Q / 3, Q % 3).from);
      unroll<by_rows.split>([&]<int Axis>(std::integral_constant<int, Axis>) __attribute__((always_inline)) {
        if constexpr (stride.at[Axis] != 0) at += row.at[Axis] * stride.at[Axis];
      });
    }
    return at;
  }
  /// Rows of an operand that lie one after the other, `step` apart; runs begin at multiples of `rows`.
  struct run_of_rows {
    std::int64_t rows = 1, step = 0;
  };
  /// The longest ones of an operand of shape `from`.
  static constexpr run_of_rows runs_of_rows(const shape& from) {
    const detail::row_index stride = strides_of_rows(from);
    run_of_rows run;
    for (int axis = by_rows.split - 1; axis >= 0; --axis) {
      if (loop[axis] == 1) continue;
      if (run.rows == 1)
        run.step = stride.at[axis];
      else if (stride.at[axis] != run.step * run.rows)
        break;
      run.rows *= loop[axis];
    }
    return run;
  }
  /// Segment S of a row of rearrangement V.
  template <int V, int S, class Frame>
  DRX_INLINE static const element_of<C, V>* rearranged_row(const Frame& f, const detail::row_index& row) {
    const auto* at = detail::element_at<C, V, by_rows.split, by_rows.first[S]>(f, row);
    return at ? at : detail::zeros_beside<element_of<C, V>, by_rows.size(S)>;
  }

  /// Whether entry M is a long function.
  template <int M>
  static constexpr bool long_function =
      requires { &prim::row_of<C::tape.entries[entry(M)].prim>::template begin<double>; };
  static constexpr detail::halves<count> each_half = []<int... M>(std::integer_sequence<int, M...>) {
    constexpr bool is_long[] = {long_function<M>...};
    detail::halves<count> h;
    for (int m = 0; m < count; ++m) {
      for (int i = 0; i < arity(m); ++i) {
        const detail::source s = operand(m, i);
        if (s.kind == detail::source_kind::register_ && h.of[s.index] != detail::half::first)
          h.of[m] = detail::half::second;
      }
      if (h.of[m] == detail::half::first && is_long[m]) h.of[m] = detail::half::ended;
    }
    return h;
  }(std::make_integer_sequence<int, count>{});
  template <int M>
  static constexpr detail::half when = each_half.of[M];
  static constexpr bool in_halves = [] {
    for (detail::half h : each_half.of)
      if (h == detail::half::ended) return true;
    return false;
  }();
  static constexpr int begun = 2;  // among an entry's three pointers, the one to its first half's result

  /// Whether operand number q, three to an entry, is read by a pointer of its own.
  static constexpr bool is_pointed_to(int q) {
    if (!pointers.own[q]) return false;
    const detail::source s = operand(q / 3, q % 3);
    return s.kind == detail::source_kind::memory || s.kind == detail::source_kind::tile || written_out(s);
  }
  /// What operand number Q's pointer, or that to its entry's first half, points to.
  template <int Q>
  static constexpr auto pointer_type() {
    constexpr int m = Q / 3, i = Q % 3;
    if constexpr (i == begun && when<m> == detail::half::ended) {
      return static_cast<const element_of<C, result(m)>*>(nullptr);
    } else {
      constexpr detail::source s = operand(m, i);
      if constexpr (s.kind == detail::source_kind::memory) {
        return static_cast<const element_of<C, s.value>*>(nullptr);
      } else if constexpr (s.kind == detail::source_kind::tile) {
        return static_cast<const element_of<C, result(m)>*>(nullptr);
      } else {
        constexpr int e = entry(m);
        constexpr int v = C::tape.entries[e].operands.count == 0 ? C::result(e, 0) : C::operand(e, i);
        return static_cast<const element_of<C, v>*>(nullptr);
      }
    }
  }

  template <class>
  struct by_entry;
  template <int... M>
  struct by_entry<std::integer_sequence<int, M...>> {
    using registers = detail::register_file<std::integer_sequence<int, M...>, element_of<C, result(M)>...>;
    using begun = meta::indices_where<when<M> != detail::half::second...>;
    using ended = meta::indices_where<when<M> == detail::half::ended...>;
  };
  using entries = std::make_integer_sequence<int, count>;
  /// The entries of the first half, and those among them, long functions, that the second half ends.
  using begun_entries = typename by_entry<entries>::begun;
  using ended_entries = typename by_entry<entries>::ended;
  template <class>
  struct by_operand;
  template <int... Q>
  struct by_operand<std::integer_sequence<int, Q...>> {
    using pointed_to = meta::indices_where<is_pointed_to(Q)...>;
    using with_pointers =
        meta::indices_where<is_pointed_to(Q) || (Q % 3 == begun && when<Q / 3> == detail::half::ended)...>;
  };
  template <class>
  struct by_pointer;
  template <int... Q>
  struct by_pointer<std::integer_sequence<int, Q...>> {
    using pointers = detail::register_file<std::integer_sequence<int, Q...>, decltype(pointer_type<Q>())...>;
  };
  using all_operands = by_operand<std::make_integer_sequence<int, 3 * count>>;
  /// The operands, three to an entry, that are read by pointers of their own.
  using operands = typename all_operands::pointed_to;
  // Named structs, since the functions of each entry are named after these types.
  struct registers_type : by_entry<entries>::registers {};
  struct pointers_type : by_pointer<typename all_operands::with_pointers>::pointers {
    std::int64_t first = 0;   // the first halves are there from this element on
    std::int64_t column = 0;  // of the row, at which its segment begins
  };

  /// The address of entry M's stored result; null if it is not stored.
  template <int M, class Frame>
  DRX_INLINE static std::byte* store_address(const Frame& f) {
    if constexpr (C::plan.stored[result(M)]) {
      return address<C, result(M)>(f);
    } else {
      return nullptr;
    }
  }
};

}  // namespace drx::run
