// drx/primitives/hyperbolic.hpp: hyperbolic functions.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/trigonometric.hpp>
#include <drx/scalar/hyperbolic.hpp>

namespace drx {
namespace prim {
namespace rows {

// cut-begin tanh_row
struct tanh : floating_function {
  static constexpr const char* name = "tanh";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::tanh(x);
  }
  template <class T>
  DRX_FN static T begin(T x) {
    return math::tanh_begin(x);
  }
  template <class T>
  DRX_FN static T end(T begun, T x) {
    return math::tanh_end(begun, x);
  }
  template <class T>
  static T reference(T x) {
    return std::tanh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    const int one = emit::constant_like(b, t, 1);
    return emit::times(b, t, emit::sub(b, one, emit::mul(b, y, y)));
  }
};
// cut-end tanh_row
struct sinh : floating_function, singular_value {
  static constexpr const char* name = "sinh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sinh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::sinh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::cosh(b, s.operands[0]));
  }
};
struct cosh : floating_function, singular_value {
  static constexpr const char* name = "cosh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::cosh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::cosh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::sinh(b, s.operands[0]));
  }
};
struct asinh : floating_function {
  static constexpr const char* name = "asinh";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::asinh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::asinh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0];
    const int square = emit::mul(b, x, x);
    return emit::azmul(b, t, emit::rsqrt(b, emit::add(b, square, emit::constant_like(b, t, 1))));
  }
};
struct acosh : floating_function, singular_value {  // NaN below 1, where its derivative is infinite
  static constexpr const char* name = "acosh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::acosh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::acosh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0], one = emit::constant_like(b, t, 1);
    const int below = emit::sub(b, x, one), above = emit::add(b, x, one);
    return emit::azmul(b, t, emit::rsqrt(b, emit::mul(b, below, above)));
  }
};
struct atanh : floating_function, singular_value {
  static constexpr const char* name = "atanh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::atanh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::atanh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azdiv(b, t, one_minus_square(b, s.operands[0]));
  }
};

}  // namespace rows

inline constexpr primitive tanh = elementwise_primitive<rows::tanh>();
inline constexpr primitive sinh = elementwise_primitive<rows::sinh>();
inline constexpr primitive cosh = elementwise_primitive<rows::cosh>();
inline constexpr primitive asinh = elementwise_primitive<rows::asinh>();
inline constexpr primitive acosh = elementwise_primitive<rows::acosh>();
inline constexpr primitive atanh = elementwise_primitive<rows::atanh>();
template <>
struct row_of<&tanh> : rows::tanh {};
template <>
struct row_of<&sinh> : rows::sinh {};
template <>
struct row_of<&cosh> : rows::cosh {};
template <>
struct row_of<&asinh> : rows::asinh {};
template <>
struct row_of<&acosh> : rows::acosh {};
template <>
struct row_of<&atanh> : rows::atanh {};
}  // namespace prim

namespace emit {
constexpr int sinh(builder& b, int x) { return b.add1(prim::sinh, {x}); }
constexpr int cosh(builder& b, int x) { return b.add1(prim::cosh, {x}); }
}  // namespace emit

// clang-format off
/// The hyperbolic tangent.
template <class A> requires FloatingArray<A>
constexpr A tanh(const A& x) { return detail::elementary(prim::tanh, x); }
/// The hyperbolic sine.
template <class A> requires FloatingArray<A>
constexpr A sinh(const A& x) { return detail::elementary(prim::sinh, x); }
/// The hyperbolic cosine.
template <class A> requires FloatingArray<A>
constexpr A cosh(const A& x) { return detail::elementary(prim::cosh, x); }
/// The number whose sinh is x.
template <class A> requires FloatingArray<A>
constexpr A asinh(const A& x) { return detail::elementary(prim::asinh, x); }
/// The nonnegative number whose cosh is x: NaN below 1; at 1 the derivative is infinite.
template <class A> requires FloatingArray<A>
constexpr A acosh(const A& x) { return detail::elementary(prim::acosh, x); }
/// The number whose tanh is x: infinite at -1 and 1, NaN beyond.
template <class A> requires FloatingArray<A>
constexpr A atanh(const A& x) { return detail::elementary(prim::atanh, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sinh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cosh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why asinh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why acosh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why atanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
// clang-format on

DRX_SILENT(tanh)
DRX_SILENT(acosh)
DRX_SILENT(asinh)
DRX_SILENT(atanh)
DRX_SILENT(cosh)
DRX_SILENT(sinh)

}  // namespace drx
