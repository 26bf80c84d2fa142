// drx/primitives/scan.hpp: a loop over the slices of stacked arrays, which stacks a result of each step.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

namespace drx {
namespace detail {

/// X with one more axis of extent N in front of each leaf: for arrays and tuples of them.
template <std::int64_t N, class X>
struct stacked;
template <std::int64_t N, class T, std::int64_t... E>
struct stacked<N, array<T, E...>> {
  using type = array<T, N, E...>;
};
template <std::int64_t N, class... X>
struct stacked<N, std::tuple<X...>> {
  using type = std::tuple<typename stacked<N, X>::type...>;
};
/// Its inverse, and the extent.
template <class X>
struct unstacked;
template <class T, std::int64_t N, std::int64_t... E>
struct unstacked<array<T, N, E...>> {
  using type = array<T, E...>;
  static constexpr std::int64_t length = N;
};
template <class X, class... Y>
struct unstacked<std::tuple<X, Y...>> {
  using type = std::tuple<typename unstacked<X>::type, typename unstacked<Y>::type...>;
  static constexpr std::int64_t length = unstacked<X>::length;
  static_assert(((unstacked<Y>::length == length) && ...), "drx::scan: the xs are not of one length");
};

}  // namespace detail

/// For each slice x of xs along axis 0: (carry, y) = f(carry, x). Returns (last carry, stacked ys). xs and y are arrays
/// or tuples of arrays; f returns a std::pair or std::tuple of two. `memory` as in fori_loop.
template <class Carry, class Xs, class F>
constexpr auto scan(const F& f, const Carry& init, const Xs& xs, const loop_memory& memory = keep_carries) {
  using X = typename detail::unstacked<canonical_t<Xs>>::type;
  constexpr std::int64_t length = detail::unstacked<canonical_t<Xs>>::length;
  const auto step = [&](const detail::index_t&, const auto& carry, const auto& x) { return f(carry, x); };
  using R = decltype(f(std::declval<traced_t<Carry>>(), std::declval<traced_t<X>>()));
  using C = canonical_t<std::tuple_element_t<0, R>>;
  using Y = canonical_t<std::tuple_element_t<1, R>>;
  static_assert(std::is_same_v<C, canonical_t<Carry>>, "drx::scan: loop_body_changes_the_type_of_its_carry");
  const detail::leaf_refs<Carry> refs(init);
  const detail::leaf_refs<Xs> xs_refs(xs);
  builder* b = builder::inner(refs.innermost(), xs_refs.innermost());
  const auto region = detail::trace_region(b, step, std::type_identity<std::int32_t>{}, std::type_identity<Carry>{}, std::type_identity<X>{});
  const vec<int> r = detail::add_loop(b, region, length, leaf_count<Carry>, false, memory, [&](builder& t) {
    vec<int> ids = refs.on(t);
    ids.append(xs_refs.on(t));
    return ids;
  });
  using Ys = typename detail::stacked<length, Y>::type;
  return std::pair<traced_t<Carry>, traced_t<Ys>>{detail::bound<Carry>(*b, r), detail::bound<Ys>(*b, r, leaf_count<Carry>)};
}

}  // namespace drx

#endif
