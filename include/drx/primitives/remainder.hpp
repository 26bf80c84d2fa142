// drx/primitives/remainder.hpp: remainders: % with the sign of the dividend, mod with that of the divisor.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/piecewise.hpp>
#include <drx/primitives/reported.hpp>

#include <cmath>

namespace drx {
namespace prim {
namespace rows {
struct remainder : same_type, on_numbers, singular_value {  // x - y trunc(x / y), as the division of integers rounds
  static constexpr const char* name = "rem";
  static constexpr int arity = 2;
  template <class T>
  DRX_FN static T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      return y == 0 ? x : y == T(-1) ? T(0) : x % y;  // defined for every input; x / 0 is 0
    } else {
      return math::fmod_near(x, y);
    }
  }
  template <class T>
  DRX_INLINE static bool near(T x, T y) {
    return math::within_fmod_limit(x, y);
  }
  template <class T>
  DRX_FN static T exact(T x, T y) {
    return std::fmod(x, y);
  }
  template <class T>
  static T reference(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return apply(x, y);
    else
      return std::fmod(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return t;
    const int whole =
        emit::sub(b, s.operands[0], s.results[0]);  // d/dy = -trunc(x / y), where x / y itself may round up
    return emit::neg(b, emit::azmul(b, t, b.add1(prim::round, {emit::div(b, whole, s.operands[1])})));
  }
};
}  // namespace rows
inline constexpr primitive remainder = elementwise_primitive<rows::remainder>();
template <>
struct row_of<&remainder> : rows::remainder {};
}  // namespace prim

namespace detail {
template <class A, class B>
struct is_number_pair : std::false_type {};
template <class A, class B>
  requires Compatible<A, B>
struct is_number_pair<A, B> : std::bool_constant<!std::is_same_v<common_element<A, B>, bool>> {};
template <class A, class B>
concept NumberPair = is_number_pair<A, B>::value;
template <class A, class B>
concept NoNumberPair = ArrayPair<A, B> && !NumberPair<A, B>;
template <class A, class B>
using not_number_pair_t = std::conditional_t<Compatible<A, B>, error::needs_numbers, mismatch_t<A, B>>;
}  // namespace detail

// clang-format off
/// The remainder of a / b, with the sign of a, as in C++ for integers: a is (a / b) * b + a % b. For integers a % 0 is
/// a, since a / 0 is 0; for float and double it is fmod, NaN where b is 0 or a infinite. (The % of Python and JAX is
/// drx::mod.)
template <class A, class B> requires detail::NumberPair<A, B>
constexpr auto operator%(const A& a, const B& b) { return detail::binary(prim::remainder, a, b); }
/// The remainder of a / b, with the sign of b, as Python's %, jnp.mod and jnp.remainder. Where b is 0 it is a % b.
template <class A, class B> requires detail::NumberPair<A, B>
constexpr auto mod(const A& a, const B& b) {
  const auto r = a % b;
  return where(r != 0 && (r < 0) != (b < 0), r + b, r);
}

template <class A, class B, class Why = detail::not_number_pair_t<A, B>> requires detail::NoNumberPair<A, B>
Why operator%(const A&, const B&) = delete;  // drx: of numbers of one element type: cast<T>(x); shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::not_number_pair_t<A, B>> requires detail::NoNumberPair<A, B>
Why mod(const A&, const B&) = delete;  // drx: of numbers of one element type: cast<T>(x); shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why operator%(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a % b; }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why mod(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::mod(a, b); }, x, y); of a structure leaf by leaf: tree_map
// clang-format on

DRX_SILENT(mod)

}  // namespace drx
