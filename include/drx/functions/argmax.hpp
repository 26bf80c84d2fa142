// drx/functions/argmax.hpp: the position of the largest or smallest element along an axis; whether all or any elements
// are true. No derivative passes through them.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
template <class A, int Axis>
struct kept_axis {  // A's shape with extent 1 at the axis
  static constexpr shape value = [] {
    shape s = A::shape;
    s[axis_of<A, Axis>::axis] = 1;
    return s;
  }();
};
/// y, reduced over an axis of A, with that axis restored at extent 1, so that it broadcasts against A.
template <class A, int Axis, class Y>
constexpr auto keep_axis(const Y& y) {
  using S = kept_axis<A, Axis>;
  return unary<array_of<typename Y::value_type, S>>(y,
                                                    [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}

template <class A, int Axis>
concept Searchable = NumberArray<A> && HasAxis<A, Axis> && (A::size > 0);
template <int Axis, class A>
constexpr auto arg_extremum(const primitive& p, const A& x) {
  using axes = reduced_axes<A, Axis>;
  return unary<array_of<std::int32_t, axes>>(
      x, [&](builder& b, int id) { return emit::over_axes(b, p, id, axes::list()); });
}
}  // namespace detail

// clang-format off
/// The position of the largest element along Axis, an int32; the first of equal ones.  argmax(x), argmax<0>(x)
template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmax(const A& x) { return detail::arg_extremum<Axis>(prim::argmax, x); }
/// The position of the smallest element along Axis, an int32; the first of equal ones.
template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmin(const A& x) { return detail::arg_extremum<Axis>(prim::argmin, x); }

template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmax(const A&) = delete;  // drx: argmax<axis>(array of numbers with elements); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmin(const A&) = delete;  // drx: argmin<axis>(array of numbers with elements); of a placed value in a map
// clang-format on

namespace detail {
template <class A, int... Axes>
concept Mask =
    Array<A> && std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool> && reduced_axes<A, Axes...>::in_range;
template <class A>
concept NotMask = Array<A> && !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A>
using not_mask_t = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_boolean_values>;
}  // namespace detail

namespace detail {
/// Whether all, or any, of the elements along axes are true; of none, all are.
template <bool All, class A, int... Axes>
constexpr auto of_bools(const A& x) {
  if constexpr (A::size > 0) {
    return reduce_axes<A, Axes...>(All ? prim::min_over : prim::max_over, x);
  } else if constexpr (All) {
    return sum<Axes...>(cast<std::int32_t>(x)) == 0;
  } else {
    return sum<Axes...>(cast<std::int32_t>(x)) > 0;
  }
}
}  // namespace detail

// clang-format off
/// Whether all elements along the axes (or of the whole array) are true.
template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto all_of(const A& x) { return detail::of_bools<true, A, Axes...>(x); }
/// Whether any element along the axes (or of the whole array) is true.
template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto any_of(const A& x) { return detail::of_bools<false, A, Axes...>(x); }

template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why all_of(const A&) = delete;  // drx: of an array of bool: all_of(x > 0); of a placed value in a map
template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why any_of(const A&) = delete;  // drx: of an array of bool: any_of(x > 0); of a placed value in a map
// clang-format on

DRX_SILENT(argmax)
DRX_SILENT(argmin)
DRX_SILENT(all_of)
DRX_SILENT(any_of)

}  // namespace drx
