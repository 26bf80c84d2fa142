// drx/scalar/number.hpp: the common parts of the scalar types: levels, real types, and the errors of their misuse.
//
// A derivative that is taken inside another one must not mix its perturbation with the outer one's. Each scalar type
// has a level: 0 for float, double and packs of them; for dual and var, one more than the type that they are made of.
// Each derivative is taken with a type one level above all that its function sees; values of a lower level are
// constants to it.
#pragma once

#include <drx/config.hpp>

#include <concepts>
#include <limits>
#include <type_traits>

namespace drx::error {

struct a_drx_scalar_is_not_converted_to_a_plain_number {};
struct scalars_of_one_level_but_two_types_do_not_mix {};
struct branch_on_a_pack {};

}  // namespace drx::error

namespace drx::ad {

template <class T, int N = 1>
struct dual;  // drx/scalar/dual.hpp
template <class T>
struct var;  // drx/scalar/reverse.hpp
template <class T, int W>
struct pack;  // drx/scalar/pack.hpp

namespace detail {
template <class X>
struct traits {
  static constexpr bool number = std::is_arithmetic_v<X>, active = false;
  static constexpr int level = 0, lanes = 1;
  using real = std::conditional_t<std::is_floating_point_v<X>, X, double>;
};
template <class T, int N>
struct traits<dual<T, N>> {
  static constexpr bool number = true, active = true;
  static constexpr int level = 1 + traits<T>::level, lanes = traits<T>::lanes;
  using real = typename traits<T>::real;
};
template <class T>
struct traits<var<T>> : traits<dual<T, 1>> {};
template <class T, int W>
struct traits<pack<T, W>> {
  static constexpr bool number = true, active = false;
  static constexpr int level = 0, lanes = W;
  using real = T;
};
}  // namespace detail

/// The level of X: how many derivatives it carries in one another.
template <class X>
inline constexpr int level = detail::traits<std::remove_cvref_t<X>>::level;
/// The number of numbers in an X: 1, or the number of lanes of the packs that it is made of.
template <class X>
inline constexpr int lane_count = detail::traits<std::remove_cvref_t<X>>::lanes;
/// The floating type that X is made of.
template <class X>
using real_t = typename detail::traits<std::remove_cvref_t<X>>::real;

/// A number: arithmetic, a pack, a dual or a var.
template <class X>
concept Number = detail::traits<X>::number;
/// A number that carries derivatives: a dual or a var.
template <class X>
concept Active = detail::traits<X>::active;
/// A number that is a constant beside an A.
template <class X, class A>
concept Below = Active<A> && Number<X> && (level<X> < level<A>) && std::is_constructible_v<A, X>;

namespace detail {
/// A constant as A's operators take it: plain numbers in A's real type.
template <class A, class B>
DRX_FN constexpr decltype(auto) lowered(const B& b) {
  if constexpr (std::is_arithmetic_v<B>) {
    return static_cast<real_t<A>>(b);
  } else {
    return (b);
  }
}
/// The scalar type of the higher level.
template <class A, class B>
using higher_t = std::conditional_t<(level<A> < level<B>), B, A>;
/// X as a scalar type: integers count as double.
template <class X>
using floating_t = std::conditional_t<std::is_arithmetic_v<X>, real_t<X>, X>;
}  // namespace detail

/// x without its outermost derivative.
template <class X>
DRX_FN constexpr decltype(auto) value_of(const X& x) {
  if constexpr (Active<X>) {
    return (x.value);
  } else {
    return (x);
  }
}

/// yes where the condition holds, no elsewhere. With a mask it chooses lane by lane (drx/scalar/pack.hpp).
template <class A>
  requires(!Active<A>)
DRX_FN constexpr A select(bool condition, const A& yes, const A& no) {
  return condition ? yes : no;
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, B>)
DRX_FN constexpr auto select(bool condition, A yes, B no) {
  using T = std::common_type_t<A, B>;
  return condition ? static_cast<T>(yes) : static_cast<T>(no);
}

}  // namespace drx::ad
