// drx/primitives/piecewise.hpp: rounding, sign and absolute value, relu, softsign, clamp; whether numbers are finite.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/where.hpp>

#include <limits>

namespace drx {
namespace prim {
namespace rows {

struct floor : floating_function, not_differentiable {
  static constexpr const char* name = "floor";
  static constexpr known_value known(const known_value& x) {
    return {x.finite, x.not_negative, x.not_positive, x.negative()};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::floor(x);
  }
  template <class T>
  static T reference(T x) {
    return std::floor(x);
  }
};
struct ceil : floating_function, not_differentiable {
  static constexpr const char* name = "ceil";
  static constexpr known_value known(const known_value& x) {
    return {x.finite, x.not_negative, x.not_positive, x.positive()};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::ceil(x);
  }
  template <class T>
  static T reference(T x) {
    return std::ceil(x);
  }
};
struct sign : number_function, not_differentiable {  // -1, 0 or 1; NaN stays
  static constexpr const char* name = "sign";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static constexpr T apply(T x) {
    return x == x ? static_cast<T>(static_cast<T>(x > 0) - static_cast<T>(x < 0)) : x;
  }
  template <class T>
  static T reference(T x) {
    return apply(x);
  }
};
struct abs : number_function {  // derivative at 0: 0
  static constexpr const char* name = "abs";
  static constexpr known_value known(const known_value& x) {
    return {x.finite, true, x.not_negative && x.not_positive, x.not_zero};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return math::abs(x);
    } else {
      return x < 0 ? static_cast<T>(-wrapping(x)) : x;  // (the smallest integer has no positive one: it wraps)
    }
  }
  template <class T>
  static T reference(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      return apply(x);
    }
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::times(b, t, b.add1(prim_sign(), {s.operands[0]}));
  }
  static constexpr const primitive& prim_sign();
};
struct relu : number_function {  // max(x, 0), but the derivative at 0 is 0; NaN stays
  static constexpr const char* name = "relu";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, x.not_positive, x.positive()}; }
  template <class T>
  DRX_INLINE static constexpr T apply(T x) {
    return x < 0 ? T(0) : x;
  }
  template <class T>
  static T reference(T x) {
    return apply(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int zero = emit::constant_like(b, t, 0);
    return emit::where(b, emit::less(b, zero, s.operands[0]), t, zero);
  }
};
struct round : floating_function, not_differentiable {  // of two equally near, the even one
  static constexpr const char* name = "round";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::round(x);
  }
  template <class T>
  static T reference(T x) {
    return std::nearbyint(x);
  }
};

struct softsign : floating_function {  // x / (1 + |x|)
  static constexpr const char* name = "softsign";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return x / (1 + math::abs(x));
  }
  template <class T>
  static T reference(T x) {
    return x / (1 + std::abs(x));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t);  // t / (1 + |x|)^2
};

}  // namespace rows

inline constexpr primitive floor = elementwise_primitive<rows::floor>();
inline constexpr primitive ceil = elementwise_primitive<rows::ceil>();
inline constexpr primitive sign = elementwise_primitive<rows::sign>();
inline constexpr primitive abs = elementwise_primitive<rows::abs>();
inline constexpr primitive relu = elementwise_primitive<rows::relu>();
inline constexpr primitive round = elementwise_primitive<rows::round>();
inline constexpr primitive softsign = elementwise_primitive<rows::softsign>();
template <>
struct row_of<&floor> : rows::floor {};
template <>
struct row_of<&ceil> : rows::ceil {};
template <>
struct row_of<&sign> : rows::sign {};
template <>
struct row_of<&abs> : rows::abs {};
template <>
struct row_of<&relu> : rows::relu {};
template <>
struct row_of<&round> : rows::round {};
template <>
struct row_of<&softsign> : rows::softsign {};

constexpr const primitive& rows::abs::prim_sign() { return prim::sign; }
constexpr int rows::softsign::partial(builder& b, const rule_site& s, int, int t) {
  const int one = emit::constant_like(b, t, 1);
  const int d = emit::div(b, one, emit::add(b, one, b.add1(prim::abs, {s.operands[0]})));
  return emit::times(b, t, emit::mul(b, d, d));
}
}  // namespace prim

// clang-format off
/// The largest whole number that is not above x. Derivative: 0.
template <class A> requires FloatingArray<A>
constexpr A floor(const A& x) { return detail::elementary(prim::floor, x); }
/// The smallest whole number that is not below x. Derivative: 0.
template <class A> requires FloatingArray<A>
constexpr A ceil(const A& x) { return detail::elementary(prim::ceil, x); }
/// -1, 0 or 1, for numbers of any type; NaN for NaN. Derivative: 0.
template <class A> requires detail::NumberArray<A>
constexpr A sign(const A& x) { return detail::elementary(prim::sign, x); }
/// The magnitude, for numbers of any type. Derivative: sign(x), which is 0 at 0.
template <class A> requires detail::NumberArray<A>
constexpr A abs(const A& x) { return detail::elementary(prim::abs, x); }
/// max(x, 0), for numbers of any type, with derivative 0 at 0.
template <class A> requires detail::NumberArray<A>
constexpr A relu(const A& x) { return detail::elementary(prim::relu, x); }
/// The nearest whole number; of two equally near, the even one: round(2.5) = 2, as in JAX. Derivative: 0.
template <class A> requires FloatingArray<A>
constexpr A round(const A& x) { return detail::elementary(prim::round, x); }
/// x / (1 + |x|): between -1 and 1, with the slope 1 at 0; NaN at infinity, as JAX's.
template <class A> requires FloatingArray<A>
constexpr A softsign(const A& x) { return detail::elementary(prim::softsign, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why floor(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why ceil(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why sign(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why abs(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why relu(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why round(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why softsign(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
// clang-format on

namespace detail {
template <class A, class L, class H>
concept Clampable = Array<A> && Compatible<A, L> && Compatible<A, H> &&
                    !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A, class L, class H>
constexpr auto clamp_misuse() {
  if constexpr (NoArray<A> || Placed<L> || Placed<H>) {
    return no_array_t<A, L, H>{};
  } else if constexpr (Incompatible<A, L>) {
    return mismatch<A, L>();
  } else if constexpr (Incompatible<A, H>) {
    return mismatch<A, H>();
  } else {
    return error::needs_numbers{};
  }
}
}  // namespace detail

/// x limited to [low, high], elementwise; NaN stays. On the bounds the derivative is x's.
template <class A, class L, class H>
  requires detail::Clampable<A, L, H>
constexpr auto clamp(const A& x, const L& low, const H& high) {
  return where(x < low, low, where(x > high, high, x));
}
template <class A, class L, class H, class Why = decltype(detail::clamp_misuse<A, L, H>())>
  requires((Array<A> || detail::NoArray<A>) && !detail::Clampable<A, L, H>)
Why clamp(const A&, const L&, const H&) = delete;  // drx: clamp(array of numbers, low, high): bounds of its element type; of a placed value in a map; of a structure leaf by leaf: tree_map

// clang-format off
/// Whether each element is NaN, an array of bool.
template <class A> requires FloatingArray<A>
constexpr auto isnan(const A& x) { return x != x; }
/// Whether each element is infinity or minus infinity.
template <class A> requires FloatingArray<A>
constexpr auto isinf(const A& x) { return abs(x) > std::numeric_limits<typename A::value_type>::max(); }
/// Whether each element is neither infinite nor NaN.
template <class A> requires FloatingArray<A>
constexpr auto isfinite(const A& x) { return abs(x) <= std::numeric_limits<typename A::value_type>::max(); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why isnan(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why isinf(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why isfinite(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
// clang-format on

DRX_SILENT(abs)
DRX_SILENT(relu)
DRX_SILENT(ceil)
DRX_SILENT(clamp)
DRX_SILENT(floor)
DRX_SILENT(sign)
DRX_SILENT(isfinite)
DRX_SILENT(isinf)
DRX_SILENT(isnan)
DRX_SILENT(round)
DRX_SILENT(softsign)

}  // namespace drx
