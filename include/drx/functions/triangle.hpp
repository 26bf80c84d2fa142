// drx/functions/triangle.hpp: matrices with zeros on one side of a diagonal.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
// clang-format off
/// Matrices (the last two axes) with zeros above diagonal K, which counts from the main one to the right; leading axes
/// are a batch.  tril(x), tril<-1>(x)
template <int K = 0, class A> requires detail::HasAxes<A, 2>
constexpr A tril(const A& x) {
  using I = array_of<std::int32_t, shape_of<A>>;
  return where(iota<I, -2>() + K >= iota<I, -1>(), x, typename A::value_type{});
}
/// Matrices (the last two axes) with zeros below diagonal K; leading axes are a batch.  triu(x), triu<1>(x)
template <int K = 0, class A> requires detail::HasAxes<A, 2>
constexpr A triu(const A& x) {
  using I = array_of<std::int32_t, shape_of<A>>;
  return where(iota<I, -2>() + K <= iota<I, -1>(), x, typename A::value_type{});
}

template <int K = 0, class A, class Why = detail::not_axes_t<A>> requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 2>)
Why tril(const A&) = delete;  // drx: of matrices, the last two axes; of a placed value in a map
template <int K = 0, class A, class Why = detail::not_axes_t<A>> requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 2>)
Why triu(const A&) = delete;  // drx: of matrices, the last two axes; of a placed value in a map
// clang-format on

DRX_SILENT(tril)
DRX_SILENT(triu)

}  // namespace drx
