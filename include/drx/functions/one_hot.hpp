// drx/functions/one_hot.hpp: class numbers as rows with a single one in them.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
template <class A, std::int64_t Last>
struct with_last_axis {
  static constexpr shape value = [] {
    shape s = A::shape;
    s.push_back(Last);
    return s;
  }();
};
/// For each element a row of Classes bools, true at its position.
template <std::int64_t Classes, class A>
constexpr auto class_mask(const A& labels) {
  using T = typename A::value_type;
  using column = with_last_axis<A, 1>;
  const auto x =
      unary<array_of<T, column>>(labels, [](builder& b, int id) { return emit::reshape(b, id, column::value); });
  return x == iota<array<T, Classes>>();
}
template <class A>
using not_labels_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_integer_values>;
}  // namespace detail

/// For each class number a row of Classes elements of T, 1 at its position and else 0; all are 0 if the number is not
/// one of 0 .. Classes-1.  one_hot<float, 10>(labels)
template <Element T, std::int64_t Classes, class A>
  requires detail::IntegerArray<A>
constexpr auto one_hot(const A& labels) {
  return cast<T>(detail::class_mask<Classes>(labels));
}
template <Element T, std::int64_t Classes, class A, class Why = detail::not_labels_t<A>>
  requires((Array<A> || Placed<A>) && !detail::IntegerArray<A>)
Why one_hot(const A&) = delete;  // drx: of int arrays: cast<int>(x) first; of a placed value in a map

DRX_SILENT_OF_TYPE(one_hot)

}  // namespace drx
