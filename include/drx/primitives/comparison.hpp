// drx/primitives/comparison.hpp: == != < <= > >=, and the logical operations on bool.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>

namespace drx {
namespace prim {
namespace rows {

struct comparison : boolean_result, not_differentiable {
  static constexpr int arity = 2;
  static constexpr bool accepts(dtype, int) { return true; }
};
struct equal : comparison {
  static constexpr const char* name = "equal";
  template <class T>
  DRX_INLINE static constexpr bool apply(T x, T y) {
    return x == y;
  }
  template <class T>
  static bool reference(T x, T y) {
    return x == y;
  }
};
struct less : comparison {
  static constexpr const char* name = "less";
  template <class T>
  DRX_INLINE static constexpr bool apply(T x, T y) {
    return x < y;
  }
  template <class T>
  static bool reference(T x, T y) {
    return x < y;
  }
};
struct less_equal : comparison {
  static constexpr const char* name = "less_equal";
  template <class T>
  DRX_INLINE static constexpr bool apply(T x, T y) {
    return x <= y;
  }
  template <class T>
  static bool reference(T x, T y) {
    return x <= y;
  }
};

struct logical : boolean_result, not_differentiable {
  static constexpr bool accepts(dtype t, int) { return t == dtype::boolean; }
};
struct logical_and : logical {
  static constexpr const char* name = "and";
  static constexpr int arity = 2;
  DRX_INLINE static constexpr bool apply(bool x, bool y) { return x & y; }
  static bool reference(bool x, bool y) { return x && y; }
};
struct logical_or : logical {
  static constexpr const char* name = "or";
  static constexpr int arity = 2;
  DRX_INLINE static constexpr bool apply(bool x, bool y) { return x | y; }
  static bool reference(bool x, bool y) { return x || y; }
};
struct logical_not : logical {
  static constexpr const char* name = "not";
  static constexpr int arity = 1;
  DRX_INLINE static constexpr bool apply(bool x) { return !x; }
  static bool reference(bool x) { return !x; }
};

}  // namespace rows

inline constexpr primitive equal = elementwise_primitive<rows::equal>();
inline constexpr primitive less = elementwise_primitive<rows::less>();
inline constexpr primitive less_equal = elementwise_primitive<rows::less_equal>();
inline constexpr primitive logical_and = elementwise_primitive<rows::logical_and>();
inline constexpr primitive logical_or = elementwise_primitive<rows::logical_or>();
inline constexpr primitive logical_not = elementwise_primitive<rows::logical_not>();
template <>
struct row_of<&equal> : rows::equal {};
template <>
struct row_of<&less> : rows::less {};
template <>
struct row_of<&less_equal> : rows::less_equal {};
template <>
struct row_of<&logical_and> : rows::logical_and {};
template <>
struct row_of<&logical_or> : rows::logical_or {};
template <>
struct row_of<&logical_not> : rows::logical_not {};
}  // namespace prim

namespace emit {
constexpr int equal(builder& b, int x, int y) { return b.add1(prim::equal, {x, y}); }
constexpr int less(builder& b, int x, int y) { return b.add1(prim::less, {x, y}); }
}  // namespace emit

namespace detail {
template <class A, class B>
concept BooleanPair = Compatible<A, B> && std::is_same_v<common_element<A, B>, bool>;
}

// Elementwise; the result is an array of bool. Branch on it with drx::where.
// clang-format off
/// Whether corresponding elements are equal; a NaN equals nothing. An array of bool: drx::where chooses by it.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator==(const A& a, const B& b) { return detail::comparison(prim::equal, a, b); }
/// Whether a's elements are less than b's. An array of bool: drx::where chooses by it.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator<(const A& a, const B& b) { return detail::comparison(prim::less, a, b); }
/// Whether a's elements are less than or equal to b's. An array of bool: drx::where chooses by it.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator<=(const A& a, const B& b) { return detail::comparison(prim::less_equal, a, b); }
/// Whether a's elements are greater than b's. An array of bool: drx::where chooses by it.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator>(const A& a, const B& b) { return detail::comparison(prim::less, b, a); }
/// Whether a's elements are greater than or equal to b's. An array of bool: drx::where chooses by it.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator>=(const A& a, const B& b) { return detail::comparison(prim::less_equal, b, a); }
/// True where an array of bool is false.
template <class A> requires(Array<A> && std::is_same_v<typename A::value_type, bool>)
constexpr A operator!(const A& a) { return detail::elementwise<A, bool>(prim::logical_not, a); }
/// Whether corresponding elements are different; a NaN differs from everything. An array of bool: drx::where chooses
/// by it.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator!=(const A& a, const B& b) { return !(a == b); }
/// True where both arrays of bool are true. Both are computed.
template <class A, class B> requires detail::BooleanPair<A, B>
constexpr auto operator&&(const A& a, const B& b) { return detail::comparison(prim::logical_and, a, b); }
/// True where one of two arrays of bool is true. Both are computed.
template <class A, class B> requires detail::BooleanPair<A, B>
constexpr auto operator||(const A& a, const B& b) { return detail::comparison(prim::logical_or, a, b); }

template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator==(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator!=(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator<(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator<=(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator>(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator>=(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = error::needs_boolean_values> requires(detail::ArrayPair<A, B> && !detail::BooleanPair<A, B>)
Why operator&&(const A&, const B&) = delete;  // drx: compare first: (a > 0) && (b > 0)
template <class A, class B, class Why = error::needs_boolean_values> requires(detail::ArrayPair<A, B> && !detail::BooleanPair<A, B>)
Why operator||(const A&, const B&) = delete;  // drx: compare first: (a > 0) || (b > 0)
template <class A, class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_boolean_values>>
  requires((Array<A> && !std::is_same_v<typename A::value_type, bool>) || detail::PlacedOperands<A>)
Why operator!(const A&) = delete;  // drx: compare first: !(a > 0); of a placed value in a map
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator==(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a == b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator!=(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a != b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator<(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a < b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator<=(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a <= b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator>(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a > b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator>=(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a >= b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator&&(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a && b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator||(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a || b; }, x, y)
// clang-format on

}  // namespace drx
