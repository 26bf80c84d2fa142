// drx/primitives/trigonometric.hpp: trigonometric functions.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/power.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/scalar/inverse_trigonometric.hpp>

namespace drx {
namespace prim {
namespace rows {

/// (1 - x) (1 + x): more accurate near 1 than 1 - x^2.
constexpr int one_minus_square(builder& b, int x) {
  const int one = emit::constant_like(b, x, 1);
  const int below = emit::sub(b, one, x), above = emit::add(b, one, x);
  return emit::mul(b, below, above);
}

/// Fast up to sin_limit; NaN for infinity.
struct circular_function : floating_function {
  template <class T>
  DRX_INLINE static bool near(T x) {
    return math::within_sin_limit(x);
  }
};

struct sin : circular_function {
  static constexpr const char* name = "sin";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sin_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::sin_of_any(x);
  }
  template <class T>
  static T reference(T x) {
    return std::sin(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::cos(b, s.operands[0]));
  }
};
struct cos : circular_function {
  static constexpr const char* name = "cos";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::cos_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::cos_of_any(x);
  }
  template <class T>
  static T reference(T x) {
    return std::cos(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::neg(b, emit::azmul(b, t, emit::sin(b, s.operands[0])));
  }
};
struct tan : circular_function, singular_value {
  static constexpr const char* name = "tan";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::tan_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::tan_of_any(x);
  }
  template <class T>
  static T reference(T x) {
    return std::tan(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    const int one = emit::constant_like(b, t, 1);
    return emit::azmul(b, t, emit::add(b, one, emit::mul(b, y, y)));
  }
};
struct asin : floating_function, singular_value {
  static constexpr const char* name = "asin";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::asin(x);
  }
  template <class T>
  static T reference(T x) {
    return std::asin(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::rsqrt(b, one_minus_square(b, s.operands[0])));
  }
};
struct acos : floating_function, singular_value {
  static constexpr const char* name = "acos";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::acos(x);
  }
  template <class T>
  static T reference(T x) {
    return std::acos(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::neg(b, emit::azmul(b, t, emit::rsqrt(b, one_minus_square(b, s.operands[0]))));
  }
};
struct atan : floating_function {
  static constexpr const char* name = "atan";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::atan(x);
  }
  template <class T>
  static T reference(T x) {
    return std::atan(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0];
    const int square = emit::mul(b, x, x);
    return emit::azdiv(b, t, emit::add(b, square, emit::constant_like(b, t, 1)));
  }
};
struct atan2 : same_type, on_floating {  // derivatives at the origin: NaN
  static constexpr const char* name = "atan2";
  static constexpr int arity = 2;
  template <class T>
  DRX_INLINE static T apply(T y, T x) {
    return math::atan2(y, x);
  }
  template <class T>
  static T reference(T y, T x) {
    return std::atan2(y, x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    const int y = s.operands[0], x = s.operands[1];
    const int of_x = emit::mul(b, x, x), of_y = emit::mul(b, y, y), square = emit::add(b, of_x, of_y);
    const int slope = emit::azmul(b, t, emit::div(b, i == 0 ? x : y, square));
    return i == 0 ? slope : emit::neg(b, slope);
  }
};

}  // namespace rows

inline constexpr primitive sin = elementwise_primitive<rows::sin>();
inline constexpr primitive cos = elementwise_primitive<rows::cos>();
inline constexpr primitive tan = elementwise_primitive<rows::tan>();
inline constexpr primitive asin = elementwise_primitive<rows::asin>();
inline constexpr primitive acos = elementwise_primitive<rows::acos>();
inline constexpr primitive atan = elementwise_primitive<rows::atan>();
inline constexpr primitive atan2 = elementwise_primitive<rows::atan2>();
template <>
struct row_of<&sin> : rows::sin {};
template <>
struct row_of<&cos> : rows::cos {};
template <>
struct row_of<&tan> : rows::tan {};
template <>
struct row_of<&asin> : rows::asin {};
template <>
struct row_of<&acos> : rows::acos {};
template <>
struct row_of<&atan> : rows::atan {};
template <>
struct row_of<&atan2> : rows::atan2 {};
}  // namespace prim

namespace emit {
constexpr int sin(builder& b, int x) { return b.add1(prim::sin, {x}); }
constexpr int cos(builder& b, int x) { return b.add1(prim::cos, {x}); }
}  // namespace emit

// clang-format off
/// The sine of x, in radians; NaN for infinity.
template <class A> requires FloatingArray<A>
constexpr A sin(const A& x) { return detail::elementary(prim::sin, x); }
/// The cosine of x, in radians; NaN for infinity.
template <class A> requires FloatingArray<A>
constexpr A cos(const A& x) { return detail::elementary(prim::cos, x); }
/// The tangent of x, in radians; NaN for infinity.
template <class A> requires FloatingArray<A>
constexpr A tan(const A& x) { return detail::elementary(prim::tan, x); }
/// The angle in [-pi/2, pi/2] whose sine is x: NaN beyond [-1, 1]; at the ends the derivative is infinite.
template <class A> requires FloatingArray<A>
constexpr A asin(const A& x) { return detail::elementary(prim::asin, x); }
/// The angle in [0, pi] whose cosine is x: NaN beyond [-1, 1]; at the ends the derivative is infinite.
template <class A> requires FloatingArray<A>
constexpr A acos(const A& x) { return detail::elementary(prim::acos, x); }
/// The angle in [-pi/2, pi/2] whose tangent is x.
template <class A> requires FloatingArray<A>
constexpr A atan(const A& x) { return detail::elementary(prim::atan, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sin(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cos(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tan(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why asin(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why acos(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why atan(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
// clang-format on

/// The angle of the point (x, y), in [-pi, pi], elementwise; at the origin and at infinity as in C.
template <class A, class B>
  requires detail::FloatingPair<A, B>
constexpr auto atan2(const A& y, const B& x) {
  return detail::binary(prim::atan2, y, x);
}
template <class A, class B, class Why = decltype(detail::floating_pair_misuse<A, B>())>
  requires detail::NoFloatingPair<A, B>
Why atan2(const A&, const B&) = delete;  // drx: atan2(y, x) of two floating arrays, or of one and a number; of placed values in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(cos)
DRX_SILENT(sin)
DRX_SILENT(tan)
DRX_SILENT(acos)
DRX_SILENT(asin)
DRX_SILENT(atan)
DRX_SILENT(atan2)

}  // namespace drx
