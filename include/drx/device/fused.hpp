// drx/device/fused.hpp: fused loops by a team: an element to each lane, in turns; after a matrix product, an element of
// the product; with sums over rows, a column to each lane; with folds over an axis, a place around it, which is a row
// if that is the last axis.
// Tested by tests/unit/device/arrays.cpp and tests/unit/device/folds_of_loops.cpp.
#pragma once

#include <drx/device/kernel.hpp>
#include <drx/device/products.hpp>
#include <drx/device/sums.hpp>

#include <type_traits>

namespace drx::device {

/// One element of a fused loop.
template <class Loop>
struct fused_element {
  using C = typename Loop::code;
  using registers_type = typename Loop::registers_type;
  template <int M>
  using of_entry = element_of<C, Loop::result(M)>;

  /// The place in memory of the element that a source has for column i of row r.
  template <int M, int I>
  DRX_INLINE static std::int64_t place(std::int64_t r, std::int64_t i) {
    constexpr run::detail::source s = Loop::operand(M, I);
    if constexpr (s.from.size() == 1) {
      return 0;
    } else if constexpr (Loop::flat) {
      return i;
    } else {
      constexpr bool same_column = Loop::is_one_in_row(s.from);
      return Loop::row_start(s.from, r) + (same_column ? 0 : i);
    }
  }
  /// Operand I of entry M. `product` is the element of the matrix product that the loop begins with.
  template <class T, int M, int I, class P>
  DRX_INLINE static T load(const frame& f, const registers_type& registers, std::int64_t r, std::int64_t i, P product) {
    constexpr run::detail::source s = Loop::operand(M, I);
    if constexpr (s.kind == run::detail::source_kind::register_) {
      return run::detail::get<s.index>(registers);
    } else if constexpr (s.kind == run::detail::source_kind::literal) {
      constexpr T number = static_cast<T>(s.number);
      return number;
    } else if constexpr (s.kind == run::detail::source_kind::tile) {
      return static_cast<T>(product);
    } else if constexpr (s.kind == run::detail::source_kind::position) {
      return run::fused_elements<Loop>::template position<T, s.axis>(r, i);
    } else if constexpr (s.rearranged) {
      constexpr shape loop = Loop::loop;
      const run::detail::row_index at = run::detail::row_at(r * Loop::columns + i, loop, loop.rank);
      const T* const from = run::detail::element_at<C, s.value, loop.rank, 0>(f, at);
      return from ? *from : T{};
    } else if constexpr (s.taken) {
      constexpr int e = C::definition(s.value), whole = C::operand(e, 0), chosen = C::operand(e, 1);
      constexpr std::int64_t n = C::values[whole].shape[0];
      const std::int64_t at = elements<const element_of<C, chosen>, C, chosen>(f)[r];
      return elements<const T, C, whole>(f)[prim::indexing::position(at, n) * Loop::columns + i];
    } else {
      return elements<const T, C, s.value>(f)[place<M, I>(r, i)];
    }
  }
  /// Entry M.
  template <int M, class P>
  DRX_INLINE static auto value(const frame& f, const registers_type& registers, std::int64_t r, std::int64_t i,
                               P product) {
    constexpr int e = Loop::entry(M);
    using row = prim::row_of<Loop::primitive_of(M)>;
    using R = element_of<C, C::result(e, 0)>;
    if constexpr (Loop::template is<prim::constant, prim::iota, prim::broadcast_to, prim::matmul>(M)) {
      return load<R, M, 0>(f, registers, r, i, product);
    } else if constexpr (Loop::template is<prim::cast>(M)) {
      using From = element_of<C, C::operand(e, 0)>;
      return prim::rules::cast::convert<R>(load<From, M, 0>(f, registers, r, i, product));
    } else if constexpr (run::fused_elements<Loop>::template ranged<M>) {
      return [&]<int... K>(std::integer_sequence<int, K...>) {
        return row::exact(load<R, M, K>(f, registers, r, i, product)...);
      }(std::make_integer_sequence<int, Loop::arity(M)>{});
    } else {
      return [&]<int... K>(std::integer_sequence<int, K...>) {
        return static_cast<R>(row::apply(load<element_of<C, C::operand(e, K)>, M, K>(f, registers, r, i, product)...));
      }(std::make_integer_sequence<int, Loop::arity(M)>{});
    }
  }
  /// All entries.
  template <class P>
  DRX_INLINE static void compute(const frame& f, registers_type& registers, std::int64_t r, std::int64_t i, P product) {
    unroll<Loop::count>([&]<int M>(std::integral_constant<int, M>) {
      run::detail::get<M>(registers) = value<M>(f, registers, r, i, product);
    });
  }
  /// Value V, which the loop computes, or reads, each element at its place.
  template <int V>
  DRX_INLINE static auto value_at(const frame& f, const registers_type& registers, std::int64_t r, std::int64_t i) {
    if constexpr (is_in_loop<C, V, Loop::step>)
      return run::detail::get<place_in_loop<C, V>>(registers);
    else
      return elements<const element_of<C, V>, C, V>(f)[r * Loop::columns + i];
  }
  /// Stores the results that leave the loop.
  DRX_INLINE static void store(const frame& f, const registers_type& registers, std::int64_t r, std::int64_t i) {
    unroll<Loop::count>([&]<int M>(std::integral_constant<int, M>) {
      constexpr int v = Loop::result(M);
      if constexpr (is_stored<C, v>)
        elements<of_entry<M>, C, v>(f)[r * Loop::columns + i] = run::detail::get<M>(registers);
    });
  }
};

/// A loop alone.
template <class Loop, class Team>
DRX_FN void run_elements(const Team& team, const frame& f) {
  using element = fused_element<Loop>;
  for_each(team, Loop::rows * Loop::columns, [&](std::int64_t n) {
    const std::int64_t r = Loop::flat ? 0 : n / Loop::columns, i = Loop::flat ? n : n % Loop::columns;
    typename Loop::registers_type registers;
    element::compute(f, registers, r, i, 0);
    element::store(f, registers, r, i);
  });
}
/// A loop that begins with a matrix product.
template <class Loop, class Team>
DRX_FN void run_after_product(const Team& team, const frame& f) {
  using C = typename Loop::code;
  using element = fused_element<Loop>;
  product<C, Loop::entry(0)>::run(team, f, 0, [&](std::int64_t row, std::int64_t column, auto sum) {
    typename Loop::registers_type registers;
    element::compute(f, registers, row, column, sum);
    element::store(f, registers, row, column);
  });
}
/// Totals that are added up side by side, and their addition.
template <class T, int N>
struct totals {
  T of[N];
};
struct add_each {
  template <class T, int N>
  DRX_INLINE totals<T, N> operator()(totals<T, N> a, const totals<T, N>& b) const {
    for (int k = 0; k < N; ++k) a.of[k] += b.of[k];
    return a;
  }
};

/// A loop that adds up its rows. A lane goes down a column, since results may take the places of what is added up.
template <class Loop, class Team>
DRX_FN void run_sums(const Team& team, const frame& f) {
  using C = typename Loop::code;
  using element = fused_element<Loop>;
  using of = run::fused_sums<Loop>;
  using T = element_of<C, Loop::result(0)>;
  using sums = totals<T, of::sums>;
  for_each(team, Loop::columns, [&](std::int64_t i) {
    const auto row = [&](std::int64_t r) {
      typename Loop::registers_type registers;
      element::compute(f, registers, r, i, 0);
      sums t;
      unroll<of::sums>([&]<int K>(std::integral_constant<int, K>) {
        T x = element::template value_at<of::summed(K)>(f, registers, r, i);
        if constexpr (of::weighted(K)) x *= elements<const T, C, C::operand(of::sum_entry(K), 1)>(f)[r];
        t.of[K] = x;
      });
      element::store(f, registers, r, i);
      return t;
    };
    const sums all = fold_all<Loop::rows, sums>(row, add_each{});
    unroll<of::sums>([&]<int K>(std::integral_constant<int, K>) {
      elements<T, C, C::result(of::sum_entry(K), 0)>(f)[i] = all.of[K];
    });
  });
}

/// A loop that sums its rows: a lane takes a row.
template <class Loop, class Team>
DRX_FN void run_row_sums(const Team& team, const frame& f) {
  using C = typename Loop::code;
  using element = fused_element<Loop>;
  using of = run::fused_folds<Loop>;
  using T = typename of::T;
  using sums = totals<T, of::folds>;
  for_each(team, Loop::rows, [&](std::int64_t r) {
    const auto element_of_row = [&](std::int64_t i) {
      typename Loop::registers_type registers;
      element::compute(f, registers, r, i, 0);
      sums t;
      unroll<of::folds>([&]<int J>(std::integral_constant<int, J>) {
        t.of[J] = element::template value_at<of::folded(J)>(f, registers, r, i);
      });
      element::store(f, registers, r, i);
      return t;
    };
    const sums all = fold_all<Loop::columns, sums>(element_of_row, add_each{});
    unroll<of::folds>([&]<int J>(std::integral_constant<int, J>) { elements<T, C, of::made(J)>(f)[r] = all.of[J]; });
  });
}

/// A loop that folds over an axis before its last one: a lane takes one place around it, which is one column of a row.
template <class Loop, class Team>
DRX_FN void run_folds(const Team& team, const frame& f) {
  using C = typename Loop::code;
  using element = fused_element<Loop>;
  using of = run::fused_folds<Loop>;
  using T = typename of::T;
  for_each(team, of::rows * Loop::columns, [&](std::int64_t n) {
    constexpr shape around = of::around;
    const std::int64_t i = n % Loop::columns,
                       first = of::row_number(run::detail::row_at(n / Loop::columns, around, of::last_axis));
    T total[of::folds];
    std::int32_t place[of::folds] = {};
    for (std::int64_t k = 0; k < of::length; ++k) {
      constexpr std::int64_t next = of::row_distance;
      typename Loop::registers_type registers;
      element::compute(f, registers, first + k * next, i, 0);
      unroll<of::folds>([&]<int J>(std::integral_constant<int, J>) {
        const T x = element::template value_at<of::folded(J)>(f, registers, first + k * next, i);
        if constexpr (of::is_sum(J)) {
          total[J] = k == 0 ? x : total[J] + x;
        } else if (k == 0 || prim::beats<of::template is_largest<J>>(x, total[J])) {
          total[J] = x;
          place[J] = static_cast<std::int32_t>(k);
        }
      });
      element::store(f, registers, first + k * next, i);
    }
    unroll<of::folds>([&]<int J>(std::integral_constant<int, J>) {
      if constexpr (of::is_position(J))
        elements<std::int32_t, C, of::made(J)>(f)[n] = place[J];
      else
        elements<T, C, of::made(J)>(f)[n] = total[J];
    });
  });
}

/// Step Step, which is a fused loop.
template <class C, int Step, class Team>
DRX_FN void run_fused(const Team& team, frame& f) {
  using loop = run::fused_loop<C, Step>;
  if constexpr (loop::after_product) {
    run_after_product<loop>(team, f);
  } else if constexpr (loop::now.has_folds) {
    if constexpr (run::fused_folds<loop>::sums_rows)
      run_row_sums<loop>(team, f);
    else
      run_folds<loop>(team, f);
  } else if constexpr (loop::now.sums > 0) {
    run_sums<loop>(team, f);
  } else {
    run_elements<loop>(team, f);
  }
}

}  // namespace drx::device
