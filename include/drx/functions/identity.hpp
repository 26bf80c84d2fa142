// drx/functions/identity.hpp: unit matrices.
#pragma once

#include <drx/primitives/catalogue.hpp>

namespace drx {
namespace detail {
template <class A>
concept SquareShape = Array<A> && prim::rules::square_matrix::fits(A::shape);  // drx: identity<array<T, n, n>>(): the last two extents are equal; of others: cast<T>(iota<A, 0>() == iota<A, 1>())
}  // namespace detail

/// Ones on the diagonal of the last two axes, which have the same extent, and zeros elsewhere.  identity<array<float,
/// 3, 3>>()
template <class A>
  requires detail::SquareShape<A>
constexpr A identity() {
  if (!detail::is_tracing())
    return detail::array_of_elements<A>([](const std::int64_t* at) { return at[A::rank - 2] == at[A::rank - 1]; });
  traced_ref r;
  r.what = traced_ref::kind::identity;
  return A(r);
}

}  // namespace drx
