// drx/functions/reduce_as.hpp: sums and means over members whose partial sums have a narrower type.
// Section of docs/reference.md: Placements and placed values.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {

/// What drx::as<T> is.
template <Element T>
struct as_type {};
/// Names an element type as an argument: reduce_sum(x, drx::as<bfloat16>).
template <Element T>
inline constexpr as_type<T> as{};

namespace detail {
/// Why members cannot be summed as T; `no_misuse` if they can.
template <class X, class T>
constexpr auto reduce_as_misuse() {
  if constexpr (!ReducibleMembers<X>) {
    return members_misuse<X>();
  } else {
    constexpr bool floating = all_floating<typename X::member> && is_floating(dtype_of<T>);
    return std::conditional_t<floating, no_misuse, error::needs_floating_values>{};
  }
}
template <class X, class T>
concept ReducibleAs = std::is_same_v<decltype(reduce_as_misuse<X, T>()), no_misuse>;

/// That sum, as floats where the members are halves.
constexpr int sum_as(builder& b, int x, dtype narrow, const placement_info* p) {
  attributes a;
  a.placement = p;
  const dtype of = b.type(x).type;
  const primitive& sum = is_half_type(narrow) ? prim::sum_of_halves : prim::reduce_sum;
  return emit::cast(b, b.add1(sum, {emit::cast_of_members(b, x, narrow)}, a), is_half_type(of) ? dtype::float32 : of);
}
template <class T, class X, class Finish>
constexpr auto reduce_as(const X& x, Finish finish) {
  constexpr const placement_info* p = &placement_of<typename X::placement>;
  const leaf_refs<X> refs(x);
  tracing_builder& b = common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::cast(b, finish(b, sum_as(b, id, dtype_of<T>, p), p), b.type(id).type);
  return bound<typename X::member>(b, ids);
}
}  // namespace detail

/// The sum over members with partial sums of type T, which are what ranks send: each member is rounded to T, and so is
/// each sum of two subtrees of the reduction tree. So a sum of n members is rounded some log2(n) times (a block of up
/// to 32 members is summed in float first), and has the same bits on any number of threads and ranks. The result has
/// the members' element type. Derivative: broadcast, in which the cotangent is rounded to T, too.
template <class X, Element T>
  requires detail::ReducibleAs<X, T>
constexpr auto reduce_sum(const X& x, as_type<T>) {
  return detail::reduce_as<T>(x, [](builder&, int sum, const placement_info*) { return sum; });
}
/// That sum, divided by the number of members; 0 without members.
template <class X, Element T>
  requires detail::ReducibleAs<X, T>
constexpr auto reduce_mean(const X& x, as_type<T>) {
  return detail::reduce_as<T>(x, [](builder& b, int sum, const placement_info* p) {
    const int n = emit::members(b, p, b.type(sum).type);
    const int at_least_one = b.add1(prim::maximum, {n, emit::constant_like(b, n, 1)});
    return emit::div(b, sum, emit::broadcast_to(b, at_least_one, b.shape(sum)));
  });
}
template <class X, class T, class Why = decltype(detail::reduce_as_misuse<X, T>())>
  requires(!error::Reported<X> && !detail::ReducibleAs<X, T>)
Why reduce_sum(const X&, as_type<T>) = delete;  // drx: reduce_sum(placed, drx::as<T>): the members' numbers and T are floating: float, double, bfloat16, float16
template <class X, class T, class Why = decltype(detail::reduce_as_misuse<X, T>())>
  requires(!error::Reported<X> && !detail::ReducibleAs<X, T>)
Why reduce_mean(const X&, as_type<T>) = delete;  // drx: reduce_mean(placed, drx::as<T>): the members' numbers and T are floating: float, double, bfloat16, float16

}  // namespace drx
