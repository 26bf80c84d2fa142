// drx/run/fused/packs.hpp: a fused loop of plain arithmetic, and tanh, in packs, which products, sums over rows and
// folds use.
// Tested by tests/unit/run/products.cpp.
#pragma once

#include <drx/run/data/dealt.hpp>
#include <drx/run/fused/workspaces.hpp>
#include <drx/run/fused/loop.hpp>
#include <drx/run/packs/tanh.hpp>

#include <bit>

namespace drx::run {

namespace detail {

enum class pack_operation : std::int8_t {
  unchanged,
  negated,
  hyperbolic_tangent,
  added,
  subtracted,
  multiplied,
  multiplied_unless_zero
};
/// An operation on packs; those with one operand read x.
template <pack_operation Operation, class T>
DRX_HOST_INLINE pack<T> computed_packs(pack<T> x, [[maybe_unused]] pack<T> y) {
  using enum pack_operation;
  if constexpr (Operation == negated) {
    return -x;
  } else if constexpr (Operation == hyperbolic_tangent && has_pack_tanh<T>) {
    return tanh_of_pack<T>(x);
  } else if constexpr (Operation == added) {
    return x + y;
  } else if constexpr (Operation == subtracted) {
    return x - y;
  } else if constexpr (Operation == multiplied) {
    return x * y;
  } else if constexpr (Operation == multiplied_unless_zero) {  // 0 where x or y is 0
    auto nonzero = (x != 0) & (y != 0);
    return std::bit_cast<pack<T>>(std::bit_cast<decltype(nonzero)>(x * y) & nonzero);
  } else {
    return x;
  }
}

}  // namespace detail

template <class Loop>
struct fused_packs {
  using C = typename Loop::code;
  using pointers_type = typename Loop::pointers_type;

  /// Whether a loop can be computed in packs: arithmetic, and tanh where packs have it, of one floating type and
  /// without positions.
  static constexpr bool in_packs = [] {
    using T = element_of<C, Loop::result(0)>;
    if (Loop::has_rearranged) return false;
    for (int m = 0; m < Loop::count; ++m) {
      const primitive* p = C::tape.entries[Loop::entry(m)].prim;
      if (p != &prim::matmul && p != &prim::constant && p != &prim::broadcast_to && p != &prim::add &&
          p != &prim::sub && p != &prim::mul && p != &prim::azmul && p != &prim::neg &&
          !(p == &prim::tanh && has_pack_tanh<T>))
        return false;
      if (C::values[Loop::result(m)].type != C::values[Loop::result(0)].type) return false;
      for (int i = 0; i < Loop::arity(m); ++i)
        if (Loop::operand(m, i).kind == detail::source_kind::position) return false;
    }
    return true;
  }();
  /// Operand I of entry M for the columns from `col` on of a row.
  template <class T, int M, int I>
  DRX_HOST_INLINE static pack<T> load_pack(const pack<T>* registers, const pointers_type& pointers, std::int64_t row,
                                           std::int64_t col) {
    constexpr detail::source s = Loop::operand(M, I);
    if constexpr (s.kind == detail::source_kind::register_) {
      return registers[s.index];
    } else if constexpr (s.kind == detail::source_kind::literal) {
      return static_cast<T>(s.number) - pack<T>{};
    } else if constexpr (Loop::is_one_in_row(s.from)) {
      return detail::get<Loop::pointers.of[3 * M + I]>(pointers)[Loop::row_start(s.from, row)] - pack<T>{};
    } else {
      return load(detail::get<Loop::pointers.of[3 * M + I]>(pointers) + Loop::row_start(s.from, row) + col);
    }
  }
  /// What entry m does with packs.
  static constexpr detail::pack_operation operation_of(int m) {
    using enum detail::pack_operation;
    return Loop::template is<prim::neg>(m)     ? negated
           : Loop::template is<prim::tanh>(m)  ? hyperbolic_tangent
           : Loop::template is<prim::add>(m)   ? added
           : Loop::template is<prim::sub>(m)   ? subtracted
           : Loop::template is<prim::mul>(m)   ? multiplied
           : Loop::template is<prim::azmul>(m) ? multiplied_unless_zero
                                               : unchanged;
  }
  template <int M, class T>
  DRX_HOST_INLINE static void compute_pack(pack<T>* registers, const pointers_type& pointers, std::int64_t row,
                                           std::int64_t col) {
    if constexpr (!Loop::template is<prim::matmul>(M)) {
      const pack<T> x = load_pack<T, M, 0>(registers, pointers, row, col);
      if constexpr (Loop::arity(M) == 1)
        registers[M] = detail::computed_packs<operation_of(M), T>(x, x);
      else
        registers[M] = detail::computed_packs<operation_of(M), T>(x, load_pack<T, M, 1>(registers, pointers, row, col));
    }
  }
  template <int M, class T>
  DRX_HOST_INLINE static void save_pack(const pack<T>* registers, T* const* out, std::int64_t row, std::int64_t col) {
    if constexpr (C::plan.stored[Loop::result(M)]) save(out[M] + row * Loop::columns + col, registers[M]);
  }
  /// Computes all entries for one pack of the product, then stores the results that leave the loop, which may take an
  /// operand's place.
  template <class T, int... M>
  DRX_HOST_INLINE static void compute_packs(pack<T> product, const pointers_type& pointers, T* const* out,
                                            std::int64_t row, std::int64_t col, std::integer_sequence<int, M...>) {
    pack<T> registers[Loop::count];
    registers[0] = product;
    (compute_pack<M, T>(registers, pointers, row, col), ...);
    (save_pack<M, T>(registers, out, row, col), ...);
  }
  struct position {
    std::int64_t row, col;
  };
  /// Computes entry M for Count packs; pack k is at place(k).
  template <int M, class T, int Count, class Place>
  DRX_HOST_INLINE static void compute_entry(pack<T> (&registers)[Count][Loop::count], const pointers_type& pointers,
                                            Place place) {
    if constexpr (Loop::template is<prim::tanh>(M) && has_pack_tanh<T>) {
      pack<T> x[Count];
      DRX_UNROLL
      for (int k = 0; k < Count; ++k) x[k] = load_pack<T, M, 0>(registers[k], pointers, place(k).row, place(k).col);
      tanh_of_packs<T>(x);
      DRX_UNROLL
      for (int k = 0; k < Count; ++k) registers[k][M] = x[k];
    } else {
      DRX_UNROLL
      for (int k = 0; k < Count; ++k) compute_pack<M, T>(registers[k], pointers, place(k).row, place(k).col);
    }
  }
  /// compute_packs for Count packs, entry by entry: pack k is at place(k), and of the product it is product(k).
  template <int Count, class T, class Place, class Product, int... M>
  DRX_HOST_INLINE static void compute_together(Place place, Product product, const pointers_type& pointers,
                                               T* const* out, std::integer_sequence<int, M...>) {
    pack<T> registers[Count][Loop::count];
    DRX_UNROLL
    for (int k = 0; k < Count; ++k) registers[k][0] = product(k);
    (compute_entry<M, T>(registers, pointers, place), ...);
    DRX_UNROLL
    for (int k = 0; k < Count; ++k) (save_pack<M, T>(registers[k], out, place(k).row, place(k).col), ...);
  }
  /// compute_packs for packs 0 to count - 1 of a loop with tanh, as many at a time as are fastest.
  template <class T, class Place, class Product>
  DRX_HOST_INLINE static void compute_all(std::int64_t count, Place place, Product product,
                                          const pointers_type& pointers, T* const* out) {
    std::int64_t i = 0;
    const auto run = [&]<int Count>(std::integral_constant<int, Count>) __attribute__((always_inline)) {
      for (const std::int64_t end = count - count % Count; i < end; i += Count)
        compute_together<Count, T>([&](int k) __attribute__((always_inline)) { return place(i + k); },
                                   [&](int k) __attribute__((always_inline)) { return product(i + k); }, pointers, out,
                                   typename Loop::entries{});
    };
    if constexpr (packs_of_tanh > 1) run(std::integral_constant<int, packs_of_tanh>{});
    run(std::integral_constant<int, 1>{});
  }
  /// The addresses of operands in memory and of results.
  template <class T>
  struct operands {
    pointers_type pointers{};
    T* out[Loop::count] = {};

    template <int... M, int... K>
    operands(frame& f, std::integer_sequence<int, M...> entries, std::integer_sequence<int, K...> from)
        : operands(workspaces(f), entries, from) {}
    template <int... M, int... K>
    operands(const workspaces& f, std::integer_sequence<int, M...>, std::integer_sequence<int, K...>)
        : out{(C::plan.stored[Loop::result(M)] ? reinterpret_cast<T*>(Loop::template store_address<M>(f))
                                               : nullptr)...} {
      const auto point = [&]<int Q>(std::integral_constant<int, Q>) {
        constexpr detail::source s = Loop::operand(Q / 3, Q % 3);
        if constexpr (s.kind == detail::source_kind::memory) detail::get<Q>(pointers) = elements<T, C, s.value>(f);
      };
      (point(std::integral_constant<int, K>{}), ...);
    }
  };

  /// Whether a loop without a product runs in packs: it has a tanh, which no compiler vectorises like that.
  static constexpr bool run_alone =
      in_packs && Loop::in_halves && Loop::columns % pack_width<element_of<C, Loop::result(0)>> == 0;
  static void run(frame& f) {
    using T = element_of<C, Loop::result(0)>;
    const operands<T> at(f, typename Loop::entries{}, typename Loop::operands{});
    constexpr std::int64_t packs = Loop::columns / pack_width<T>;
    const auto run_packs = [&](std::int64_t r, std::int64_t begin, std::int64_t end) {
      compute_all<T>(
          end - begin,
          [&](std::int64_t i) __attribute__((always_inline)) { return position{r, (begin + i) * pack_width<T>}; },
          [](std::int64_t) __attribute__((always_inline)) { return pack<T>{}; }, at.pointers, at.out);
    };
    constexpr bool is_dealt = Loop::loop.size() >= machine::least_dealt_numbers;
    if constexpr (is_dealt && Loop::rows == 1) {
      deal(f, packs, [&](std::int64_t begin, std::int64_t end) { run_packs(0, begin, end); });
    } else if constexpr (is_dealt) {
      deal(f, Loop::rows, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) run_packs(r, 0, packs);
      });
    } else {
      for (std::int64_t r = 0; r < Loop::rows; ++r) run_packs(r, 0, packs);
    }
  }
};

}  // namespace drx::run
