// drx/functions/log_softmax.hpp: softmax, its logarithm, and log(sum(exp(x))), without overflow.
#pragma once

#include <drx/functions/argmax.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
template <class A, int Axis>
concept SoftmaxOperand = FloatingArray<A> && Searchable<A, Axis>;
template <class A, int Axis>
constexpr auto softmax_misuse() {
  if constexpr (Array<A> && !FloatingArray<A>) {
    return error::needs_floating_values{};
  } else {
    return axis_misuse<A, Axis>();
  }
}
/// The largest element along the axis, to be subtracted: the results do not depend on it, and so their derivatives do
/// not.
template <int Axis, class A>
constexpr auto offset(const A& x) {
  return stop_gradient(keep_axis<A, Axis>(max<Axis>(x)));
}
/// The largest element along the axis, which is dropped, or 0 where it is not finite: infinity minus itself would be
/// NaN.
template <int Axis, class A>
constexpr auto finite_largest(const A& x) {
  constexpr auto most = std::numeric_limits<typename A::value_type>::max();
  const auto largest = stop_gradient(max<Axis>(x));
  return where(abs(largest) <= most, largest, 0);
}
}  // namespace detail

// clang-format off
/// log(softmax(x)) along an axis, by default the last.
template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr A log_softmax(const A& x) {
  const A shifted = x - detail::offset<Axis>(x);
  return shifted - log(detail::keep_axis<A, Axis>(sum<Axis>(exp(shifted))));
}
/// exp(x) / sum(exp(x)) along an axis, by default the last.
template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr A softmax(const A& x) {
  const A e = exp(x - detail::offset<Axis>(x));
  return e / detail::keep_axis<A, Axis>(sum<Axis>(e));
}
/// log(sum(exp(x))) along an axis, by default the last. If all elements are -inf it is -inf, with derivatives 0.
template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr auto logsumexp(const A& x) {
  const auto offset = detail::finite_largest<Axis>(x);
  return log(sum<Axis>(exp(x - detail::keep_axis<A, Axis>(offset)))) + offset;
}

template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why log_softmax(const A&) = delete;  // drx: log_softmax<axis>(floating array); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why softmax(const A&) = delete;  // drx: softmax<axis>(floating array); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why logsumexp(const A&) = delete;  // drx: logsumexp<axis>(floating array); of a placed value in a map
// clang-format on

DRX_SILENT(log_softmax)
DRX_SILENT(logsumexp)
DRX_SILENT(softmax)

}  // namespace drx
