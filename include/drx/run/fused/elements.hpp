// drx/run/fused/elements.hpp: a fused loop number by number: for each number all entries are computed in registers,
// then the results that leave the loop are stored.
//
// A long function (prim::row_of<p>::begin and end) runs in two halves, each for many numbers: a processor looks ahead
// only so many instructions, and finds more independent ones in two short loops than in a long one.
//
// Some functions are fast in a range only (prim::row_of<p>::near). A loop with one of them runs in chunks; a chunk with
// an operand out of range runs again with the exact forms.
// Tested by tests/unit/run/executor.cpp and tests/unit/run/long_functions.cpp.
#pragma once

#include <drx/run/data/dealt.hpp>
#include <drx/run/fused/workspaces.hpp>
#include <drx/run/fused/conditions.hpp>
#include <drx/run/packs/inlining.hpp>

#include <cstring>
#include <limits>
#include <type_traits>

namespace drx::run {

template <class Loop>
struct fused_elements {
  using C = typename Loop::code;
  using registers_type = typename Loop::registers_type;
  using pointers_type = typename Loop::pointers_type;
  using conditions = fused_conditions<Loop>;

  /// Operand I of entry M, at column i of row r, or of its segment to which the pointers lead.
  template <class T, int M, int I, class Registers, class Pointers>
  DRX_INLINE static T load(const Registers& registers, const Pointers& pointers, std::int64_t r, std::int64_t i) {
    constexpr detail::source s = Loop::operand(M, I);
    if constexpr (s.kind == detail::source_kind::register_) {
      return detail::get<s.index>(registers);
    } else if constexpr (s.kind == detail::source_kind::literal) {
      return static_cast<T>(s.number);
    } else if constexpr (requires { pointers.template condition<3 * M + I>(i); }) {
      return pointers.template condition<3 * M + I>(i);
    } else if constexpr (Loop::written_out(s) || s.kind == detail::source_kind::tile) {
      return detail::get<Loop::pointers.of[3 * M + I]>(pointers)[i];
    } else if constexpr (s.kind == detail::source_kind::position) {
      return position<T, s.axis>(r, Loop::segments > 1 ? pointers.column + i : i);
    } else {
      const T* p = detail::get<Loop::pointers.of[3 * M + I]>(pointers);
      if constexpr (!s.rearranged && Loop::is_one_in_row(s.from)) {
        return p[0];
      } else if constexpr (std::is_same_v<T, bool>) {
        return reinterpret_cast<const unsigned char*>(p)[i] != 0;  // (g++ 12 has no vectors for what it reads as bool)
      } else {
        return p[i];
      }
    }
  }
  /// The index along an axis.
  template <class T, int Axis>
  DRX_INLINE static T position(std::int64_t r, std::int64_t i) {
    if constexpr (Axis > Loop::by_rows.split) {
      return T{};  // (behind the axis along which rows go are axes of one number)
    } else if constexpr (Axis == Loop::by_rows.split) {
      constexpr bool short_row = Loop::loop[Axis] <= std::numeric_limits<std::int32_t>::max();
      return static_cast<T>(
          static_cast<std::conditional_t<short_row, std::int32_t, std::int64_t>>(i));  // (for vectors)
    } else {
      std::int64_t before = r;
      for (int axis = Loop::by_rows.split - 1; axis > Axis; --axis) before /= Loop::loop[axis];
      return static_cast<T>(before % Loop::loop[Axis]);
    }
  }

  template <class Row, class... T>
  [[gnu::noinline]] static auto exact(T... x) {  // no branches in the loop, so that it is contracted like the fast one
    return Row::exact(x...);
  }
  /// f of the operands of entry M.
  template <int M, class Registers, class Pointers, class F>
  DRX_INLINE static auto of_operands(const Registers& registers, const Pointers& pointers, std::int64_t r,
                                     std::int64_t i, F f) {
    return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
      return f(load<element_of<C, C::operand(Loop::entry(M), K)>, M, K>(registers, pointers, r, i)...);
    }(std::make_integer_sequence<int, Loop::arity(M)>{});
  }
  /// Whether entry M of the loop is fast in a range only.
  template <int M>
  static constexpr bool ranged = requires { &prim::row_of<Loop::primitive_of(M)>::template exact<double>; } &&
                                 std::is_floating_point_v<element_of<C, C::result(Loop::entry(M), 0)>>;
  template <int M, class Registers, class Pointers>
  DRX_INLINE static bool out_of_range(const Registers& registers, const Pointers& pointers, std::int64_t r,
                                      std::int64_t i) {
    using row = prim::row_of<Loop::primitive_of(M)>;
    return of_operands<M>(registers, pointers, r, i,
                          [](auto... x) __attribute__((always_inline)) { return !row::near(x...); });
  }

  /// Computes the first halves of N elements of row r, from `first` on, and stores them in `kept` at `at`.
  template <std::int64_t N, int... M, class Pointers, class Kept>
  DRX_INLINE static void begin_row(const Pointers& pointers, std::int64_t r, std::int64_t first, Kept& kept,
                                   std::int64_t at) {
    DRX_INDEPENDENT_STEPS
    for (std::int64_t i = 0; i < N; ++i) {
      registers_type registers;
      auto compute = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
        if constexpr (Loop::template when<K> == detail::half::first)
          detail::get<K>(registers) = value<K>(registers, pointers, r, first + i);
        else
          detail::get<K>(kept).elements[at + i] = prim::row_of<Loop::primitive_of(K)>::begin(
              load<element_of<C, Loop::result(K)>, K, 0>(registers, pointers, r, first + i));
      };
      meta::for_each(typename Loop::begun_entries{}, compute);
    }
  }

  /// Entry M, with operands in registers and memory; with Halves, its second half.
  template <int M, bool Exact = false, bool Halves = false, class Registers, class Pointers>
  DRX_INLINE static auto value(const Registers& registers, const Pointers& pointers, std::int64_t r, std::int64_t i) {
    constexpr int e = Loop::entry(M);
    using row = prim::row_of<Loop::primitive_of(M)>;
    using R = element_of<C, C::result(e, 0)>;
    if constexpr (Loop::template is<prim::constant, prim::iota, prim::broadcast_to, prim::matmul>(M)) {
      return load<R, M, 0>(registers, pointers, r, i);
    } else if constexpr (Loop::template is<prim::cast>(M)) {
      using From = element_of<C, C::operand(e, 0)>;
      return prim::rules::cast::convert<R>(load<From, M, 0>(registers, pointers, r, i));
    } else if constexpr (Exact && ranged<M>) {
      return of_operands<M>(registers, pointers, r, i,
                            [](auto... x) __attribute__((always_inline)) { return exact<row>(x...); });
    } else if constexpr (Halves && Loop::template when<M> == detail::half::ended) {
      return row::end(detail::get<3 * M + Loop::begun>(pointers)[i - pointers.first],
                      load<R, M, 0>(registers, pointers, r, i));
    } else {
      return of_operands<M>(registers, pointers, r, i,
                            [](auto... x) __attribute__((always_inline)) { return static_cast<R>(row::apply(x...)); });
    }
  }

  /// The results of the first halves of N elements.
  template <int M, std::int64_t N>
  struct begun_numbers {
    alignas(64) element_of<C, Loop::result(M)> elements[Loop::template when<M> == detail::half::ended ? N : 1];
  };
  template <class Pointers, class Kept>
  DRX_INLINE static void point_to_begun(Pointers& pointers, const Kept& kept, std::int64_t at) {
    meta::for_each(typename Loop::ended_entries{},
                   [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
                     detail::get<3 * K + Loop::begun>(pointers) = detail::get<K>(kept).elements + at;
                   });
  }

  /// Hides from the compiler that it has read the rows' single numbers before: g++ would hand them from step to step,
  /// since a store might change them, and find no vectors in such a loop.
  template <class Pointers>
  DRX_INLINE static void read_numbers_anew(Pointers& pointers) {
    meta::for_each(
        typename Loop::operands{}, [&]<int Q>(std::integral_constant<int, Q>) __attribute__((always_inline)) {
          constexpr detail::source s = Loop::operand(Q / 3, Q % 3);
          if constexpr (s.kind == detail::source_kind::memory && !s.rearranged && Loop::is_one_in_row(s.from)) {
            auto& pointer = detail::get<Q>(pointers);  // (clang captures nothing that only asm names)
            asm("" : "+r"(pointer));
          }
        });
  }

  /// Shorter loops are over before two of them would pay.
  static constexpr std::int64_t least_halved = 64;
  /// N elements of row r from `begin` on.
  template <std::int64_t N, int... M>
  DRX_INLINE static void run_row(std::byte* const* out, const pointers_type& pointers, std::int64_t r,
                                 std::int64_t begin = 0) {
    constexpr bool halved = Loop::in_halves && N >= least_halved;
    if constexpr (halved || (ranged<M> || ...)) {
      constexpr std::int64_t size = chunk_of_loop, rest = N % size;
      for (std::int64_t first = 0; first < N - rest; first += size)
        run_chunk<size, halved, M...>(out, pointers, r, begin + first);
      if constexpr (rest > 0) run_chunk<rest, halved, M...>(out, pointers, r, begin + N - rest);
    } else {
      run_elements<N, false, M...>(out, pointers, r, begin);
    }
  }
  /// The elements of a flat loop in pieces that threads share.
  template <int... M>
  static void run_pieces(const frame& f, std::byte* const* out, const pointers_type& pointers) {
    constexpr std::int64_t size = machine::dealt_piece, whole = Loop::columns / size, rest = Loop::columns % size;
    deal(f, whole, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) run_row<size, M...>(out, pointers, 0, piece * size);
    });
    if constexpr (rest > 0) run_row<rest, M...>(out, pointers, 0, whole * size);
  }
  /// Whether the conditions of N elements are to be copied yet.
  template <std::int64_t N, class Pointers>
  static constexpr bool needs_copies = std::is_same_v<Pointers, pointers_type> && conditions::template copied<N>;
  /// N elements of row r from `first` on; in halves, in chunks whose first halves' results stay in the first cache.
  template <std::int64_t N, bool Halves, int... M, class Pointers>
  DRX_INLINE static void run_chunk(std::byte* const* out, const Pointers& pointers, std::int64_t r,
                                   std::int64_t first) {
    if constexpr (!Halves) {
      run_elements<N, false, M...>(out, pointers, r, first);
    } else if constexpr (needs_copies<N, Pointers>) {
      conditions::template with_copies<N, M...>(out, pointers, r, first,
                                                [&](const auto& with_copies) __attribute__((always_inline)) {
                                                  run_chunk<N, Halves, M...>(out, with_copies, r, first);
                                                });
    } else {
      detail::register_file<std::integer_sequence<int, M...>, begun_numbers<M, N>...> kept;
      begin_row<N, M...>(pointers, r, first, kept, 0);
      Pointers with_begun = pointers;
      with_begun.first = first;
      read_numbers_anew(with_begun);
      point_to_begun(with_begun, kept, 0);
      run_elements<N, true, M...>(out, with_begun, r, first);
    }
  }
  /// N elements of row r from `first` on.
  template <std::int64_t N, bool Halves, int... M, class Pointers>
  DRX_INLINE static void run_elements(std::byte* const* out, const Pointers& pointers, std::int64_t r,
                                      std::int64_t first) {
    if constexpr (needs_copies<N, Pointers>) {
      conditions::template with_copies<N, M...>(out, pointers, r, first,
                                                [&](const auto& with_copies) __attribute__((always_inline)) {
                                                  run_elements<N, Halves, M...>(out, with_copies, r, first);
                                                });
    } else if constexpr ((ranged<M> || ...)) {
      run_ranged<N, Halves, M...>(out, pointers, r, first);
    } else {
      const auto run_one = [&](std::int64_t i) __attribute__((always_inline)) {
        registers_type registers;
        ((detail::get<M>(registers) = value<M, false, Halves>(registers, pointers, r, i)), ...);
        (store<M>(out[M], pointers, registers, r, i), ...);
      };
      if constexpr (N <= 2 * machine::widest_vector) {
        DRX_INDEPENDENT_VECTORS
        for (std::int64_t i = first; i < first + N; ++i) run_one(i);
      } else {
        DRX_INDEPENDENT_STEPS
        for (std::int64_t i = first; i < first + N; ++i) run_one(i);
      }
    }
  }

  /// Whether the result of entry M lies where the loop reads an operand.
  template <int M>
  static constexpr bool in_place = [] {
    if (!C::plan.stored[Loop::result(M)]) return false;
    const plan::location to = C::plan.where[Loop::result(M)];
    for (int m = 0; m < Loop::count; ++m)
      for (int i = 0; i < Loop::arity(m); ++i) {
        const detail::source s = Loop::operand(m, i);
        if (s.kind != detail::source_kind::memory || s.rearranged) continue;
        const plan::location from = C::plan.where[s.value];
        if (from.space == to.space && from.offset == to.offset) return true;
      }
    return false;
  }();
  /// The operands that a chunk overwrites.
  template <int M, std::int64_t N>
  struct kept_chunk {
    element_of<C, Loop::result(M)> elements[in_place<M> ? N : 1];
  };

  /// N elements of row r from `first` on: fast, and again in exact forms if an operand was out of range.
  template <std::int64_t N, bool Halves, int... M, class Pointers>
  DRX_INLINE static void run_ranged(std::byte* const* out, const Pointers& pointers, std::int64_t r,
                                    std::int64_t first) {
    detail::register_file<std::integer_sequence<int, M...>, kept_chunk<M, N>...> kept;
    auto copy_operands = [&](bool back) {
      meta::for_each(meta::indices_where<in_place<M>...>{}, [&]<int K>(std::integral_constant<int, K>) {
        auto* at = reinterpret_cast<element_of<C, Loop::result(K)>*>(out[K]) + r * Loop::columns + first;
        auto* copy = detail::get<K>(kept).elements;
        std::memcpy(back ? at : copy, back ? copy : at, sizeof(detail::get<K>(kept).elements));
      });
    };
    copy_operands(false);
    std::uint32_t far4 = 0;
    std::uint64_t far8 = 0;
    DRX_INDEPENDENT_STEPS
    for (std::int64_t i = first; i < first + N; ++i) {
      registers_type registers;
      ((detail::get<M>(registers) = value<M, false, Halves>(registers, pointers, r, i)), ...);
      meta::for_each(meta::indices_where<ranged<M>...>{}, [&]<int K>(std::integral_constant<int, K>) {
        const bool far = out_of_range<K>(registers, pointers, r, i);
        if constexpr (sizeof(element_of<C, Loop::result(K)>) == 4) {
          far4 |= static_cast<std::uint32_t>(far);
        } else {
          far8 |= static_cast<std::uint64_t>(far);
        }
      });
      (store<M>(out[M], pointers, registers, r, i), ...);
    }
    if ((far4 | far8) == 0) return;
    copy_operands(true);
    for (std::int64_t i = first; i < first + N; ++i) {
      registers_type registers;
      ((detail::get<M>(registers) = value<M, true>(registers, pointers, r, i)), ...);
      (store<M>(out[M], pointers, registers, r, i), ...);
    }
  }
  template <int M, class Pointers, class Registers>
  DRX_INLINE static void store(std::byte* out, const Pointers& pointers, const Registers& registers, std::int64_t r,
                               std::int64_t i) {
    if constexpr (requires { pointers.template store_condition<M>(true, i); })
      pointers.template store_condition<M>(detail::get<M>(registers), i);
    else if constexpr (C::plan.stored[Loop::result(M)])
      reinterpret_cast<element_of<C, Loop::result(M)>*>(out)[r * Loop::columns + i] = detail::get<M>(registers);
  }

  /// Operand Q of segment S of row r, which is at `row`.
  template <int Q, int S>
  DRX_INLINE static auto operand_row(const workspaces& f, const detail::row_index& row) {
    constexpr detail::source s = Loop::operand(Q / 3, Q % 3);
    if constexpr (s.rearranged) {
      return Loop::template rearranged_row<s.value, S>(f, row);
    } else {
      return elements<element_of<C, s.value>, C, s.value>(f) + Loop::template row_start<Q>(row) +
             (Loop::is_one_in_row(s.from) ? 0 : Loop::template column<S>);
    }
  }
  /// Segment S of row r, which is at `row`: entries M, operands K.
  template <int S, int... M, int... K>
  DRX_INLINE static void run_segment(const frame& f, const workspaces& near, std::int64_t r,
                                     const detail::row_index& row, std::integer_sequence<int, M...>,
                                     std::integer_sequence<int, K...>) {
    pointers_type pointers{};
    pointers.column = Loop::template column<S>;
    ((detail::get<K>(pointers) = operand_row<K, S>(near, row)), ...);
    std::byte* const out[] = {
        (C::plan.stored[Loop::result(M)]
             ? Loop::template store_address<M>(near) + Loop::template column<S> * sizeof(element_of<C, Loop::result(M)>)
             : nullptr)...};
    if constexpr (is_dealt && Loop::flat) {
      run_pieces<M...>(f, out, pointers);
    } else {
      run_row<Loop::template segment_size<S>, M...>(out, pointers, r);
    }
  }
  /// Whether threads share the loop: its pieces if it is flat, else its rows.
  static constexpr bool is_dealt = Loop::loop.size() >= machine::least_dealt_numbers && (Loop::flat || Loop::rows > 1);
  /// The whole loop: entries M, operands K.
  template <int... M, int... K>
  static void run(frame& f, std::integer_sequence<int, M...> entries, std::integer_sequence<int, K...> operands) {
    if constexpr (is_dealt && !Loop::flat) {
      deal(f, Loop::rows, [&](std::int64_t begin, std::int64_t end) { run_rows(f, begin, end, entries, operands); });
    } else {
      run_rows(f, 0, Loop::rows, entries, operands);
    }
  }
  template <int... M, int... K>
  DRX_INLINE static void run_rows(const frame& f, std::int64_t begin, std::int64_t end,
                                  std::integer_sequence<int, M...> entries, std::integer_sequence<int, K...> operands) {
    const workspaces near(f);
    detail::row_index row;
    if constexpr (is_dealt && !Loop::flat) row = detail::row_at(begin, Loop::loop, Loop::by_rows.split);
    for (std::int64_t r = begin; r < end; ++r) {
      [&]<int... S>(std::integer_sequence<int, S...>) __attribute__((always_inline)) {
        (run_segment<S>(f, near, r, row, entries, operands), ...);
      }(std::make_integer_sequence<int, Loop::segments>{});
      if constexpr (!Loop::flat) detail::to_next_row(row, Loop::loop, Loop::by_rows.split);
    }
  }
};

}  // namespace drx::run
