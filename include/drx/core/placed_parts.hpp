// drx/core/placed_parts.hpp: a placed pair, tuple or std::array decomposes into placed values, as an unplaced one
// decomposes into its parts.
#pragma once

#include <drx/core/structure.hpp>

#include <cstddef>
#include <tuple>

namespace drx {

namespace detail {
template <class S>
concept HasParts = Structured<S> && requires { std::tuple_size<S>::value; };

/// The number of leaves of S before those of part I.
template <class S, std::size_t I>
inline constexpr int leaves_before = []<std::size_t... J>(std::index_sequence<J...>) {
  return (leaf_count<std::tuple_element_t<J, S>> + ... + 0);
}(std::make_index_sequence<I>{});
}  // namespace detail

/// Part I of a placed pair, tuple or std::array: every member's part I. It computes nothing.
///     auto [losses, slopes] = drx::map(drx::value_and_grad(loss), models, data);
template <std::size_t I, class S, class P>
  requires detail::HasParts<S>
constexpr auto get(const placed<S, P>& x) {
  placed<std::tuple_element_t<I, S>, P> part;
  for (int i = 0; i < leaf_count<std::tuple_element_t<I, S>>; ++i)
    part.leaf[i] = x.leaf[detail::leaves_before<S, I> + i];
  return part;
}

}  // namespace drx

template <class S, class P>
  requires drx::detail::HasParts<S>
struct std::tuple_size<drx::placed<S, P>> : std::tuple_size<S> {};
template <std::size_t I, class S, class P>
  requires drx::detail::HasParts<S>
struct std::tuple_element<I, drx::placed<S, P>> {
  using type = drx::placed<std::tuple_element_t<I, S>, P>;
};
