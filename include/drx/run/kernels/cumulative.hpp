// drx/run/kernels/cumulative.hpp: the kernels that go along an axis: cumulative sums, products and extrema, positions of
// the best so far, recurrences.
// Tested by tests/unit/run/many_rows.cpp and tests/unit/run/positions.cpp.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/run/kernels/fold_operations.hpp>
#include <drx/run/kernels/layout.hpp>
#include <drx/run/packs/inlining.hpp>
#include <drx/run/packs/pack.hpp>

namespace drx::run {

namespace detail {
/// Goes along an axis: the first row of a result is begin(i), the others are next(element before, i).
template <class C, int E>
struct walk_kernel {
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0),
                       axis = prim::rules::along_axis::view(C::attributes(E)).axis;
  static constexpr bool backwards = prim::rules::along_axis::view(C::attributes(E)).backwards;
  using T = element_of<C, y>;
  static constexpr shape s = C::values[y].shape;
  static constexpr std::int64_t outer = extents_between(s, 0, axis), n = s[axis],
                                inner = extents_between(s, axis + 1, s.rank);
  /// Of the rows from `done` on.
  template <class Begin, class Next>
  DRX_FN static void walk(frame& f, Begin begin, Next next, std::int64_t done = 0) {
    T* out = elements<T, C, y>(f);
    if constexpr (s.size() > 0)
      for (std::int64_t o = done; o < outer; ++o)
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t row = (o * n + (backwards ? n - 1 - k : k)) * inner,
                             before = row + (backwards ? inner : -inner);
          if (k == 0) {
            for (std::int64_t i = 0; i < inner; ++i) out[row + i] = begin(row + i);
          } else {
            for (std::int64_t i = 0; i < inner; ++i) out[row + i] = static_cast<T>(next(out[before + i], row + i));
          }
        }
  }
};

/// The same of operands x...: the first row is begin(x...), the others are next(element before, x...), of numbers or of
/// packs. Rows along the last axis are walked along side by side.
template <class C, int E, class Step, int... Operand>
struct walk_of_operands : walk_kernel<C, E> {
  using w = walk_kernel<C, E>;
  using T = typename w::T;
  DRX_FN static void run(frame& f) { walk_along(f, elements<const T, C, C::operand(E, Operand)>(f)...); }

  template <class... X>
  DRX_FN static void walk_along(frame& f, const X*... x) {
    std::int64_t rows = 0;
#if !defined(__CUDACC__)
    if constexpr ((std::is_same_v<T, float> || std::is_same_v<T, double>) && w::inner == 1)
      if constexpr (w::n >= pack_width<T> && w::outer >= pack_width<T>)
        rows = walk_in_packs(elements<T, C, w::y>(f), x...);
#endif
    w::walk(
        f, [=](std::int64_t i) { return Step::begin(x[i]...); },
        [=](T before, std::int64_t i) { return Step::next(before, x[i]...); }, rows);
  }

#if !defined(__CUDACC__)
 private:
  static constexpr int width = pack_width<T>;
  /// As many rows as lanes, transposed in squares. Returns how many rows were walked along.
  template <class... X>
  static std::int64_t walk_in_packs(T* out, const X*... x) {
    constexpr std::int64_t whole = w::outer / width * width, squares = w::n / width, n = w::n;
    for (std::int64_t row = 0; row < whole; row += width) {
      pack<T> total{};
      for (std::int64_t q = 0; q < squares; ++q) {
        const std::int64_t at = row * n + (w::backwards ? n - (q + 1) * width : q * width);
        pack<T> result[width];
        along_square(q == 0, total, result, square(x + at)...);
        transpose_packs<T>(result);
        for (int r = 0; r < width; ++r) save(out + at + r * n, result[r]);
      }
      for (std::int64_t k = squares * width; k < n; ++k)
        for (int r = 0; r < width; ++r) {
          const std::int64_t i = (row + r) * n + (w::backwards ? n - 1 - k : k);
          out[i] = Step::next(out[w::backwards ? i + 1 : i - 1], x[i]...);
        }
    }
    return whole;
  }
  struct packs {
    pack<T> of[width];
  };
  /// The columns of a square.
  static packs square(const T* x) {
    packs r;
    for (int i = 0; i < width; ++i) r.of[i] = load(x + i * w::n);
    transpose_packs<T>(r.of);
    return r;
  }
  template <class... Packs>
  static void along_square(bool first, pack<T>& total, pack<T> (&result)[width], const Packs&... x) {
    for (int j = 0; j < width; ++j) {
      const int k = w::backwards ? width - 1 - j : j;
      total = first && j == 0 ? Step::begin(x.of[k]...) : Step::next(total, x.of[k]...);
      result[k] = total;
    }
  }
#endif
};
struct sum_step {
  template <class V>
  DRX_INLINE static V begin(V x) {
    return x;
  }
  template <class V>
  DRX_INLINE static V next(V before, V x) {
    return wrapping_sum(before, x);
  }
};
struct product_step : sum_step {
  template <class V>
  DRX_INLINE static V next(V before, V x) {
    return wrapping_product(before, x);
  }
};
template <class Op>
struct extremum_step : sum_step {
  template <class V>
  DRX_INLINE static V next(V before, V x) {
    return Op{}(before, x);
  }
};
struct recurrence_step {
  template <class V>
  DRX_INLINE static V begin(V, V x) {
    return x;
  }
  template <class V>
  DRX_INLINE static V next(V before, V factor, V x) {
    return wrapping_product_sum(factor, before, x);
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::cumsum> : detail::walk_of_operands<C, E, detail::sum_step, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::cumprod> : detail::walk_of_operands<C, E, detail::product_step, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::cummax> : detail::walk_of_operands<C, E, detail::extremum_step<detail::max_op>, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::cummin> : detail::walk_of_operands<C, E, detail::extremum_step<detail::min_op>, 0> {};
template <class C, int E>
struct kernel<C, E, &prim::recurrence> : detail::walk_of_operands<C, E, detail::recurrence_step, 0, 1> {};

namespace detail {
/// The position of the best element so far along the axis of a walk, from the one before.
template <class Walk, bool Max, class X>
struct best_so_far {
  const X* p;
  DRX_FN static std::int32_t position(std::int64_t i) { return static_cast<std::int32_t>(i / Walk::inner % Walk::n); }
  DRX_FN std::int32_t operator()(std::int32_t best, std::int64_t i) const {
    const std::int32_t here = position(i);
    return prim::beats<Max>(p[i], p[i + (best - here) * Walk::inner]) ? here : best;
  }
};
template <class C, int E, bool Max>
struct best_so_far_kernel : walk_kernel<C, E> {
  using w = walk_kernel<C, E>;
  DRX_FN static void run(frame& f) {
    using X = element_of<C, w::x>;
    using best = best_so_far<w, Max, X>;
    w::walk(f, best::position, best{elements<const X, C, w::x>(f)});
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::largest_so_far> : detail::best_so_far_kernel<C, E, true> {};
template <class C, int E>
struct kernel<C, E, &prim::smallest_so_far> : detail::best_so_far_kernel<C, E, false> {};

}  // namespace drx::run
