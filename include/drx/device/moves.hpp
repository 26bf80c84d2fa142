// drx/device/moves.hpp: entries that move elements: transpose, slice, pad, flip, roll, concatenate, and boxes at
// positions that are known at run time.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/kernel.hpp>

namespace drx::device {

/// Copies the elements between the two places of a host's kernel (run::detail::strided_places), one to a lane.
template <class Kernel, class Team, class T>
DRX_INLINE void copy_strided(const Team& team, const T* from, T* to) {
  constexpr run::detail::strided_places places = Kernel::places;
  for_each(team, places.extent.size(), [&](std::int64_t n) {
    std::int64_t a = 0, b = 0;
    for (int axis = places.extent.rank - 1; axis >= 0; --axis) {
      const std::int64_t i = n % places.extent[axis];
      n /= places.extent[axis];
      a += i * places.from[axis];
      b += i * places.to[axis];
    }
    to[b] = from[a];
  });
}

/// run::copy_rearranged by a team: an element to a lane.
template <class C, int E, class Team>
DRX_FN void copy_rearranged(const Team& team, const frame& f) {
  constexpr int y = C::result(E, 0);
  constexpr shape to = C::values[y].shape;
  using T = element_of<C, y>;
  T* const out = elements<T, C, y>(f);
  for_each(team, to.size(), [&](std::int64_t n) {
    const T* const from = run::detail::rearranged_element<C, E, to.rank, 0>(f, run::detail::row_at(n, to, to.rank));
    out[n] = from ? *from : T{};
  });
}

/// A result whose elements are some of the operand's, from the host's kernel's `start` on.
template <class C, int E, const primitive* P>
struct team_move {
  using host = run::kernel<C, E, P>;
  static constexpr std::int64_t start = [] {
    if constexpr (requires { host::start; })
      return host::start;
    else
      return std::int64_t{0};
  }();
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    using T = typename host::m::T;
    if constexpr (host::m::to.size() > 0)
      copy_strided<host>(team, elements<const T, C, host::m::x>(f) + start, elements<T, C, host::m::y>(f));
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::transpose> : team_move<C, E, &prim::transpose> {};
template <class C, int E>
struct team_kernel<C, E, &prim::slice> : team_move<C, E, &prim::slice> {};
template <class C, int E>
struct team_kernel<C, E, &prim::flip> : team_move<C, E, &prim::flip> {};

template <class C, int E>
struct team_kernel<C, E, &prim::pad> {
  using host = run::kernel<C, E, &prim::pad>;
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    using T = typename host::m::T;
    T* const y = elements<T, C, host::m::y>(f);
    fill(team, y, host::m::to.size(), T{});
    team.barrier();
    if constexpr (host::m::from.size() > 0) {
      constexpr std::int64_t start = host::start;
      copy_strided<host>(team, elements<const T, C, host::m::x>(f), y + start);
    }
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::roll> {
  using m = run::detail::moves<C, E>;
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    using T = typename m::T;
    constexpr auto of = prim::rules::roll::view(C::attributes(E));
    constexpr std::int64_t n = m::to[of.axis], inner = run::detail::extents_between(m::to, of.axis + 1, m::rank),
                           places = of.places;
    const T* const x = elements<const T, C, m::x>(f);
    T* const y = elements<T, C, m::y>(f);
    for_each(team, m::to.size(), [&](std::int64_t i) {
      const std::int64_t at = i / inner % n;
      y[i] = x[i + ((at - places + n) % n - at) * inner];
    });
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::concatenate> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr int y = C::result(E, 0), axis = prim::rules::concatenate::view(C::attributes(E)).axis;
    constexpr shape to = C::values[y].shape;
    constexpr std::int64_t outer = run::detail::extents_between(to, 0, axis), row = outer == 0 ? 0 : to.size() / outer;
    using T = element_of<C, y>;
    std::int64_t at = 0;
    unroll<C::tape.entries[E].operands.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int x = C::operand(E, I);
      constexpr std::int64_t size = C::values[x].shape.size(), part = outer == 0 ? 0 : size / outer;
      const T* const p = elements<const T, C, x>(f);
      T* const q = elements<T, C, y>(f) + at;
      if constexpr (part > 0) for_each(team, size, [&](std::int64_t i) { q[i / part * row + i % part] = p[i]; });
      at += part;
    });
  }
};

/// Calls f(element of the box, its place in the whole) for each element of a run::detail::box.
template <class Box, class Team, class F>
DRX_INLINE void for_each_of_box(const Team& team, int batch, const F& f) {
  constexpr shape part = Box::part, stride = Box::stride;
  for_each(team, run::detail::extents_between(part, batch, Box::rank), [&](std::int64_t n) {
    const std::int64_t element = n;
    std::int64_t at = 0;
    for (int axis = Box::rank - 1; axis >= batch; --axis) {
      at += n % part[axis] * stride[axis];
      n /= part[axis];
    }
    f(element, at);
  });
}
/// The dynamic_slice of entry E, whose operand is a rearrangement that is not stored: an element to a lane.
template <class C, int E, class Team>
DRX_FN void slice_pieces(const Team& team, const frame& f) {
  constexpr int x = C::operand(E, 0), s = C::operand(E, 1), y = C::result(E, 0),
                batch = prim::rules::dynamic_slice::view(C::attributes(E)).batch;
  using B = run::detail::box<C, x, y, s, batch>;
  using T = element_of<C, y>;
  constexpr shape part = B::part, whole = B::whole, starts = B::starts;
  constexpr int rank = B::rank, sized = B::sized;
  const element_of<C, s>* const all_starts = elements<const element_of<C, s>, C, s>(f);
  T* const out = elements<T, C, y>(f);
  for_each(team, part.size(), [&](std::int64_t n) {
    run::detail::row_index at = run::detail::row_at(n, part, rank);
    std::int64_t own = 0;  // the batch element of the starts
    for (int axis = 0; axis < batch; ++axis) {
      own = own * starts[axis] + (starts[axis] == 1 ? 0 : at.at[axis]);
      if (whole[axis] == 1) at.at[axis] = 0;
    }
    for (int i = 0; i < sized; ++i)
      at.at[batch + i] += prim::indexing::position(static_cast<std::int64_t>(all_starts[own * sized + i]),
                                                   whole[batch + i], part[batch + i]);
    const T* const from = run::detail::element_at<C, x, rank, 0>(f, at);
    out[n] = from ? *from : T{};
  });
}
template <class C, int E>
struct team_kernel<C, E, &prim::dynamic_slice> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr int x = C::operand(E, 0), s = C::operand(E, 1), y = C::result(E, 0),
                  batch = prim::rules::dynamic_slice::view(C::attributes(E)).batch;
    using B = run::detail::box<C, x, y, s, batch>;
    using T = element_of<C, y>;
    constexpr shape part = B::part, whole = B::whole, starts = B::starts;
    constexpr std::int64_t n = run::detail::extents_between(part, 0, batch);
    constexpr std::int64_t from = run::detail::extents_between(whole, batch, B::rank),
                           to = run::detail::extents_between(part, batch, B::rank);
    if constexpr (run::is_rearranged<C, x>)
      slice_pieces<C, E>(team, f);
    else if constexpr (n * to > 0)
      for (std::int64_t b = 0; b < n; ++b) {
        const auto* at =
            elements<const element_of<C, s>, C, s>(f) + run::detail::batch_element(starts, part, batch, b) * B::sized;
        const T* p =
            elements<const T, C, x>(f) + run::detail::batch_element(whole, part, batch, b) * from + B::start(at);
        T* const q = elements<T, C, y>(f) + b * to;
        for_each_of_box<B>(team, batch, [&](std::int64_t element, std::int64_t place) { q[element] = p[place]; });
      }
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::update_slice> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr int x = C::operand(E, 0), piece = C::operand(E, 1), s = C::operand(E, 2), y = C::result(E, 0);
    constexpr int batch = prim::rules::update_slice::view(C::attributes(E)).batch;
    using B = run::detail::box<C, y, piece, s, batch>;
    using T = element_of<C, y>;
    constexpr shape part = B::part, whole = B::whole, starts = B::starts;
    constexpr std::int64_t n = run::detail::extents_between(whole, 0, batch);
    constexpr std::int64_t each = run::detail::extents_between(whole, batch, B::rank),
                           pieces = run::detail::extents_between(part, batch, B::rank);
    T* const out = elements<T, C, y>(f);
    if constexpr (run::detail::is_unstored_constant<C>(x)) {
      constexpr T number = static_cast<T>(C::tape.entries[C::definition(C::root(x))].number);
      fill(team, out, n * each, number);
    } else {
      constexpr shape from = C::values[x].shape;
      const T* const p = elements<const T, C, x>(f);
      for (std::int64_t b = 0; b < n; ++b)
        copy(team, p + run::detail::batch_element(from, whole, batch, b) * each, out + b * each, each);
    }
    team.barrier();
    if constexpr (n * pieces > 0)
      for (std::int64_t b = 0; b < n; ++b) {
        const T* const q = elements<const T, C, piece>(f) + run::detail::batch_element(part, whole, batch, b) * pieces;
        const auto* at =
            elements<const element_of<C, s>, C, s>(f) + run::detail::batch_element(starts, whole, batch, b) * B::sized;
        T* const to = out + b * each + B::start(at);
        for_each_of_box<B>(team, batch, [&](std::int64_t element, std::int64_t place) { to[place] = q[element]; });
      }
  }
};

}  // namespace drx::device
