// drx/device/indexing.hpp: entries that read or write by positions, that go along an axis, or that draw random bits.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/kernel.hpp>

#include <utility>

namespace drx::device {

template <class C, int E>
struct team_kernel<C, E, &prim::take> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr int x = C::operand(E, 0), i = C::operand(E, 1), y = C::result(E, 0);
    constexpr prim::rules::take::view taken(C::attributes(E));
    using G = run::detail::gathering<C, taken.axis, taken.batch, x, i, y>;
    using T = element_of<C, y>;
    const T* const p = elements<const T, C, x>(f);
    T* const q = elements<T, C, y>(f);
    const auto* const index = elements<const element_of<C, i>, C, i>(f);
    for_each(team, G::batches * G::before * G::any, [&](std::int64_t row) {
      G::at(index, row, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t k = 0; k < G::behind; ++k) q[to + k] = p[from + k];
      });
    });
  }
};

template <class C, int E>
struct team_kernel<C, E, &prim::scatter> {
  /// Each lane adds what belongs to its own elements behind the axis, in the order of the indices.
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr int i = C::operand(E, 0), u = C::operand(E, 1), y = C::result(E, 0);
    constexpr prim::rules::scatter::view added(C::attributes(E));
    using G = run::detail::gathering<C, added.axis, added.batch, y, i, u>;
    using T = element_of<C, y>;
    const T* const p = elements<const T, C, u>(f);
    T* const q = elements<T, C, y>(f);
    const auto* const index = elements<const element_of<C, i>, C, i>(f);
    fill(team, q, C::values[y].shape.size(), T{});
    team.barrier();
    // A lane takes one element behind the axis of one row before it, for which it goes through all indices. (Batches
    // may share the whole: one after the other.)
    for (std::int64_t b = 0; b < G::batches; ++b) {
      for_each(team, G::before * G::behind, [&](std::int64_t n) {
        constexpr std::int64_t width = G::behind == 0 ? 1 : G::behind;
        const std::int64_t before = n / width, k = n % width;
        for (std::int64_t a = 0; a < G::any; ++a)
          G::at(index, (b * G::before + before) * G::any + a,
                [&](std::int64_t to, std::int64_t from) { q[to + k] = wrapping_sum(q[to + k], p[from + k]); });
      });
      team.barrier();
    }
  }
};

/// Goes along an axis: a lane takes one row before the axis and one element behind it.
template <class C, int E>
struct team_walk {
  using walk = run::detail::walk_kernel<C, E>;
  using T = typename walk::T;
  template <class Team, class Begin, class Next>
  DRX_INLINE static void go(const Team& team, frame& f, const Begin& begin, const Next& next) {
    constexpr std::int64_t n = walk::n, inner = walk::inner;
    T* const out = elements<T, C, walk::y>(f);
    if constexpr (walk::s.size() > 0)
      for_each(team, walk::outer * inner, [&](std::int64_t line) {
        std::int64_t at = line / inner * n * inner + line % inner + (walk::backwards ? (n - 1) * inner : 0);
        constexpr std::int64_t step = walk::backwards ? -inner : inner;
        T now = begin(at);
        out[at] = now;
        for (std::int64_t i = 1; i < n; ++i) {
          at += step;
          now = static_cast<T>(next(now, at));
          out[at] = now;
        }
      });
  }
};
template <class C, int E, class Op>
struct team_cumulative : team_walk<C, E> {
  using typename team_walk<C, E>::T;
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    const T* const p = elements<const T, C, team_walk<C, E>::walk::x>(f);
    team_walk<C, E>::go(
        team, f, [p](std::int64_t i) { return p[i]; }, [p](T before, std::int64_t i) { return Op{}(before, p[i]); });
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::cumsum> : team_cumulative<C, E, run::detail::add_op> {};
template <class C, int E>
struct team_kernel<C, E, &prim::cumprod> : team_cumulative<C, E, run::detail::times_op> {};
template <class C, int E>
struct team_kernel<C, E, &prim::cummax> : team_cumulative<C, E, run::detail::max_op> {};
template <class C, int E>
struct team_kernel<C, E, &prim::cummin> : team_cumulative<C, E, run::detail::min_op> {};
template <class C, int E, bool Max>
struct team_best_so_far : team_walk<C, E> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    using walk = typename team_walk<C, E>::walk;
    using X = element_of<C, walk::x>;
    using best = run::detail::best_so_far<walk, Max, X>;
    team_walk<C, E>::go(
        team, f, [](std::int64_t i) { return best::position(i); }, best{elements<const X, C, walk::x>(f)});
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::largest_so_far> : team_best_so_far<C, E, true> {};
template <class C, int E>
struct team_kernel<C, E, &prim::smallest_so_far> : team_best_so_far<C, E, false> {};
template <class C, int E>
struct team_kernel<C, E, &prim::recurrence> : team_walk<C, E> {
  using typename team_walk<C, E>::T;
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    const T* const a = elements<const T, C, team_walk<C, E>::walk::x>(f);
    const T* const b = elements<const T, C, C::operand(E, 1)>(f);
    team_walk<C, E>::go(
        team, f, [b](std::int64_t i) { return b[i]; },
        [a, b](T before, std::int64_t i) { return wrapping_product_sum(a[i], before, b[i]); });
  }
};

/// The order of the numbers in each row: Batcher's merging network, for any number of them, on their positions. The
/// order is total (equal numbers keep theirs), so that it is the host's.
template <class C, int E>
struct team_kernel<C, E, &prim::argsort> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr int x = C::operand(E, 0), y = C::result(E, 0);
    using T = element_of<C, x>;
    constexpr std::int64_t n = C::values[y].shape.last(), rows = n == 0 ? 0 : C::values[y].shape.size() / n;
    const T* const p = elements<const T, C, x>(f);
    std::int32_t* const order = elements<std::int32_t, C, y>(f);
    if constexpr (rows > 0) {
      for_each(team, rows * n, [&](std::int64_t i) { order[i] = static_cast<std::int32_t>(i % n); });
      team.barrier();
      for (std::int64_t run = 1; run < n; run *= 2)
        for (std::int64_t far = run; far >= 1; far /= 2) {
          for_each(team, rows * n, [&](std::int64_t at) {
            const std::int64_t i = at % n, first = i - far % run;
            if (i + far >= n || first < 0 || first % (2 * far) >= far || i / (2 * run) != (i + far) / (2 * run)) return;
            std::int32_t &left = order[at], &right = order[at + far];
            if (!prim::comes_before(p + (at - i), left, right)) std::swap(left, right);
          });
          team.barrier();
        }
    }
  }
};

template <class C, int E>
struct team_kernel<C, E, &prim::random_bits> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    using bits = prim::rules::random_bits::view;
    constexpr int x = C::operand(E, 0), y = C::result(E, 0);
    constexpr auto what = bits(C::attributes(E)).what;
    constexpr std::int64_t keys = C::values[x].shape.size() / 2;
    constexpr std::int64_t each = keys == 0 ? 0 : C::values[y].shape.size() / keys;
    constexpr std::int64_t numbers = what == prim::rules::random_bits::keys ? each / 2 : each;
    const std::int32_t* const p = elements<const std::int32_t, C, x>(f);
    auto* const q = elements<element_of<C, y>, C, y>(f);
    if constexpr (keys * numbers > 0)
      for_each(team, keys * numbers, [&](std::int64_t n) {
        const std::int64_t key = n / numbers;
        prim::rules::random_bits::write<what>(prim::rules::random_bits::key_from(p + 2 * key),
                                              static_cast<std::uint64_t>(n % numbers), q + key * each);
      });
  }
};

}  // namespace drx::device
