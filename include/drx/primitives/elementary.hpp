// drx/primitives/elementary.hpp: common parts of the elementary functions: kinds of rows, and the arrays that they
// take.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/scalar/math.hpp>

#include <cmath>

namespace drx {
namespace prim::rows {

struct floating_function : same_type, on_floating {
  static constexpr int arity = 1;
};
struct number_function : same_type, on_numbers {
  static constexpr int arity = 1;
};

}  // namespace prim::rows

namespace detail {
template <class A>
constexpr A elementary(const primitive& p, const A& x) {
  return elementwise<A, typename A::value_type>(p, x);
}
template <class A>
concept NumberArray = Array<A> && !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A>
concept IntegerArray = Array<A> && std::is_integral_v<typename std::remove_cvref_t<A>::value_type> && NumberArray<A>;
template <class A>
concept NotFloating = (Array<A> || NoArray<A>) && !FloatingArray<A>;
template <class A>
concept NotNumbers = (Array<A> || NoArray<A>) && !NumberArray<A>;
template <class A>
using not_floating_t = std::conditional_t<NoArray<A>, no_array_t<A>, error::needs_floating_values>;
template <class A>
using not_numbers_t = std::conditional_t<NoArray<A>, no_array_t<A>, error::needs_numbers>;
template <class A, class B>
struct is_floating_pair : std::false_type {};
template <class A, class B>
  requires Compatible<A, B>
struct is_floating_pair<A, B> : std::is_floating_point<common_element<A, B>> {};
template <class A, class B>
concept FloatingPair = is_floating_pair<A, B>::value;
template <class A, class B>
concept ArraysExpected =
    (Array<A> || Literal<A> || NoArray<A>) && (Array<B> || Literal<B> || NoArray<B>) && !(Literal<A> && Literal<B>);
template <class A, class B>
concept NoFloatingPair = ArraysExpected<A, B> && !FloatingPair<A, B>;
template <class A, class B>
constexpr auto floating_pair_misuse() {
  if constexpr (NoArray<A> || NoArray<B>) {
    return no_array_t<A, B>{};
  } else if constexpr (Incompatible<A, B>) {
    return mismatch<A, B>();
  } else {
    return error::needs_floating_values{};
  }
}
}  // namespace detail

}  // namespace drx
