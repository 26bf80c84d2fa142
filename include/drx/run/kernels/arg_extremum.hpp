// drx/run/kernels/arg_extremum.hpp: the kernels of argmax and argmin.
// Tested by tests/unit/run/positions.cpp.
#pragma once

#include <drx/run/kernels/folds.hpp>
#include <drx/run/kernels/layout.hpp>
#include <drx/run/packs/inlining.hpp>
#include <drx/run/packs/not_numbers.hpp>

namespace drx::run {

namespace detail {
/// The first position of the best element along an axis.
template <class C, int E, bool Max>
struct arg_extremum_kernel {
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0),
                       axis = prim::rules::over_axes::view(C::attributes(E)).axes.number(0);
  using T = element_of<C, x>;
  static constexpr shape s = C::values[x].shape;
  static constexpr std::int64_t outer = extents_between(s, 0, axis), n = s[axis],
                                inner = extents_between(s, axis + 1, s.rank);
  DRX_FN static void run(frame& f) {
    const T* p = elements<const T, C, x>(f);
    std::int32_t* q = elements<std::int32_t, C, y>(f);
    for (std::int64_t o = 0; o < outer; ++o) {
      if constexpr (inner == 1) {
        q[o] = of_row(p + o * n);
      } else if constexpr (inner > 1) {
        constexpr std::int64_t width = columns_at_once, rest = inner % width;
        const T* first = p + o * n * inner;
        for (std::int64_t at = 0; at + width <= inner; at += width) of_columns<width>(first + at, q + o * inner + at);
        if constexpr (rest > 0) of_columns<rest>(first + inner - rest, q + (o + 1) * inner - rest);
      }
    }
  }

 private:
  DRX_FN static std::int32_t of_row(const T* row) {
#if !defined(__CUDACC__)
    constexpr std::int64_t lanes = lanes_of_row;
    if constexpr ((std::is_same_v<T, float> || std::is_same_v<T, double>) && n >= 2 * lanes) {
      const T best = fold_row(row, n, std::conditional_t<Max, max_op, min_op>{});
      for (std::int64_t k = 0; k + lanes <= n; k += lanes) {
        int hits = 0;
        for (std::int64_t l = 0; l < lanes; ++l) hits += (row[k + l] == best) | (row[k + l] != row[k + l]);
        if (hits > 0) return first_hit(row, k, best);
      }
      return first_hit(row, n / lanes * lanes, best);
    }
#endif
    std::int32_t best = 0;
    for (std::int64_t k = 1; k < n; ++k)
      if (prim::beats<Max>(row[k], row[best])) best = static_cast<std::int32_t>(k);
    return best;
  }
  /// The first position from k on at which the row is `best`, or no number. There is one.
  static std::int32_t first_hit(const T* row, std::int64_t k, T best) {
    while (row[k] != best && row[k] == row[k]) ++k;
    return static_cast<std::int32_t>(k);
  }
#if !defined(__CUDACC__)
  static constexpr bool in_packs = (std::is_same_v<T, float> || std::is_same_v<T, double>) && n < (1 << 23);
  static constexpr std::int64_t columns_at_once = in_packs ? pack_width<T> : 64;
#else
  static constexpr bool in_packs = false;
  static constexpr std::int64_t columns_at_once = 64;
#endif
#if !defined(__CUDACC__)
  /// A pack of columns, if there is no NaN among them. Returns whether that is so: the sum of all is then no NaN.
  DRX_HOST_INLINE static bool of_numbers(const T* __restrict row, std::int32_t* __restrict best) {
    pack<T> value = load(row), sum = value, place{};
    for (std::int64_t k = 1; k < n; ++k) {
      const pack<T> next = load(row + k * inner),
                    better = std::conditional_t<Max, max_op, min_op>::of_numbers(value, next);
      place = better != value ? pack<T>{} + static_cast<T>(k) : place;
      value = better;
      sum += next;
    }
    for (std::int64_t i = 0; i < pack_width<T>; ++i) best[i] = static_cast<std::int32_t>(place[i]);
    return !has_nan<T>(sum);
  }
#endif
  /// N columns side by side.
  template <std::int64_t N>
  DRX_FN static void of_columns(const T* __restrict row, std::int32_t* __restrict best) {
#if !defined(__CUDACC__)
    if constexpr (in_packs && N == columns_at_once) {
      if (of_numbers(row, best)) return;
      pack<T> value = load(row), place{};  // (places as floating numbers: then all lanes have one width)
      for (std::int64_t k = 1; k < n; ++k) {
        const pack<T> next = load(row + k * inner);
        const auto better = prim::beats<Max>(next, value);
        value = better ? next : value;
        place = better ? pack<T>{} + static_cast<T>(k) : place;
      }
      for (std::int64_t i = 0; i < N; ++i) best[i] = static_cast<std::int32_t>(place[i]);
      return;
    }
#endif
    T value[N];
    for (std::int64_t i = 0; i < N; ++i) value[i] = row[i];
    for (std::int64_t i = 0; i < N; ++i) best[i] = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      row += inner;
      for (std::int64_t i = 0; i < N; ++i) {
        const bool better = prim::beats<Max>(row[i], value[i]);
        const std::int32_t mask = -static_cast<std::int32_t>(better);  // (bits, so that there are vectors)
        value[i] = chosen(better, row[i], value[i]);
        best[i] = (best[i] & ~mask) | (static_cast<std::int32_t>(k) & mask);
      }
    }
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::argmax> : detail::arg_extremum_kernel<C, E, true> {};
template <class C, int E>
struct kernel<C, E, &prim::argmin> : detail::arg_extremum_kernel<C, E, false> {};

}  // namespace drx::run
