// drx/functions/softmax_cross_entropy.hpp: the loss of a classifier for each row of logits.
#pragma once

#include <drx/functions/log_softmax.hpp>
#include <drx/functions/one_hot.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
template <class A, class B>
concept ClassNumbers = SoftmaxOperand<A, -1> && IntegerArray<B> && without_axis(A::shape, A::rank - 1) == B::shape;
template <class A, class B>
concept ClassProbabilities = SoftmaxOperand<A, -1> && std::is_same_v<A, B>;
template <class A, class B>
concept Labelled = ClassNumbers<A, B> || ClassProbabilities<A, B>;
template <class A, class B>
constexpr auto labelled_misuse() {
  if constexpr (Placed<A> || Placed<B>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!SoftmaxOperand<A, -1>) {
    return softmax_misuse<A, -1>();
  } else if constexpr (!Array<B>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!IntegerArray<B> && !std::is_same_v<typename A::value_type, typename B::value_type>) {
    return error::element_types_differ{};
  } else {
    return error::extents_differ{};
  }
}
}  // namespace detail

/// -log of the probability that softmax(logits) gives to the labels, for each row of logits (last axis: classes).
/// Labels are a class number per row, or a probability per class, of logits' type. The loss of a class number out of
/// range is 0.
template <class A, class B>
  requires detail::Labelled<A, B>
constexpr auto softmax_cross_entropy(const A& logits, const B& labels) {
  if constexpr (detail::ClassNumbers<A, B>) {
    constexpr auto classes = A::shape[A::rank - 1];
    return -sum<-1>(where(detail::class_mask<classes>(labels), log_softmax(logits), typename A::value_type{}));
  } else {
    return -sum<-1>(labels * log_softmax(logits));
  }
}
template <class A, class B, class Why = decltype(detail::labelled_misuse<A, B>())>
  requires((Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !detail::Labelled<A, B>)
Why softmax_cross_entropy(const A&, const B&) = delete;  // drx: (rows, classes) logits with (rows) int labels or (rows, classes) probabilities; of placed values in a map

DRX_SILENT(softmax_cross_entropy)

}  // namespace drx
