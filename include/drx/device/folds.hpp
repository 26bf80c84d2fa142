// drx/device/folds.hpp: sums, extrema, their positions and products over axes of an array: an element of the result to
// each lane.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/kernel.hpp>
#include <drx/device/sums.hpp>

namespace drx::device {

/// Folds x of shape [outer, middle, inner] over its middle axis.
template <class C, int E, class Op>
struct team_fold {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr prim::rules::over_axes::view over(C::attributes(E));
    constexpr int x = C::operand(E, 0), y = C::result(E, 0);
    constexpr shape from = C::values[x].shape;
    if constexpr (over.are_neighbours() && from.size() > 0) {
      using T = element_of<C, y>;
      constexpr int first = over.axes.size() == 0 ? 0 : over.axes.number(0), behind = first + over.axes.size();
      constexpr std::int64_t middle = run::detail::extents_between(from, first, behind),
                             inner = run::detail::extents_between(from, behind, from.rank),
                             outer = run::detail::extents_between(from, 0, first);
      const T* const p = elements<const T, C, x>(f);
      T* const q = elements<T, C, y>(f);
      for_each(team, outer * inner, [&](std::int64_t n) {
        const T* const at = p + n / inner * middle * inner + n % inner;
        q[n] = fold_all<middle, T>([&](std::int64_t i) { return at[i * inner]; }, Op{});
      });
    } else {
      if (team.lane() == 0) run::kernel<C, E, C::tape.entries[E].prim>::run(f);
    }
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::sum> : team_fold<C, E, run::detail::add_op> {};
template <class C, int E>
struct team_kernel<C, E, &prim::max_over> : team_fold<C, E, run::detail::max_op> {};
template <class C, int E>
struct team_kernel<C, E, &prim::min_over> : team_fold<C, E, run::detail::min_op> {};
template <class C, int E>
struct team_kernel<C, E, &prim::prod> : team_fold<C, E, run::detail::times_op> {};

/// Each lane finds the first position of the best element of one row.
template <class C, int E, bool Max>
struct team_arg_extremum {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    using k = run::detail::arg_extremum_kernel<C, E, Max>;
    if constexpr (k::s.size() > 0) {
      const typename k::T* const p = elements<const typename k::T, C, k::x>(f);
      std::int32_t* const q = elements<std::int32_t, C, k::y>(f);
      for_each(team, k::outer * k::inner, [&](std::int64_t row) {
        const typename k::T* const at = p + row / k::inner * k::n * k::inner + row % k::inner;
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < k::n; ++i)
          if (prim::beats<Max>(at[i * k::inner], at[best * k::inner])) best = i;
        q[row] = static_cast<std::int32_t>(best);
      });
    }
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::argmax> : team_arg_extremum<C, E, true> {};
template <class C, int E>
struct team_kernel<C, E, &prim::argmin> : team_arg_extremum<C, E, false> {};

}  // namespace drx::device
