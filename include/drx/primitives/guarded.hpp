// drx/primitives/guarded.hpp: products and quotients in which a zero stops, for the derivatives of singular operations.
// A cotangent of 0 says that nothing depends on the operand; times an infinite derivative it must stay 0, not become
// NaN. Undecided products ("in doubt") may need that guard or not. Their factors may come from outside a region, which
// is differentiated by itself: only the whole program tells (transform/settled_products.hpp). Until then they count as
// guarded.
#pragma once

#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/scalar/math.hpp>

namespace drx {
namespace prim {
namespace rows {

/// Absolute-zero multiplication (CppAD's name): 0 where either factor is 0, whatever the other is; else x y. Either
/// factor, since in a derivative of a derivative the zero may stand on either side.
struct azmul : same_type, on_floating, singular_value {
  static constexpr const char* name = "azmul";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) { return mul::known(s); }
  template <class T>
  DRX_INLINE static T apply(T x, T y) {
    return math::azmul(x, y);
  }
  template <class T>
  static T reference(T x, T y) {
    return x == 0 || y == 0 ? T(0) : x * y;
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return emit::times(b, t, s.operands[1 - i]);
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    for (int i = 0; i < 2; ++i) {
      double c = 0;
      if (!emit::is_constant(b, o[i], c)) continue;
      if (c == 0) return o[i];
      if (is_finite(c)) return emit::mul(b, o[0], o[1]);  // finite: the plain product stops at zeros too
    }
    return -1;
  }
};
/// 0 where x is 0, whatever y is; else x / y.
struct azdiv : same_type, on_floating, singular_value {
  static constexpr const char* name = "azdiv";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) { return div::known(s); }
  template <class T>
  DRX_INLINE static T apply(T x, T y) {
    return math::azdiv(x, y);
  }
  template <class T>
  static T reference(T x, T y) {
    return x == 0 ? T(0) : x / y;
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return emit::azdiv(b, t, s.operands[1]);
    return emit::neg(b, emit::azdiv(b, emit::azmul(b, t, s.results[0]), s.operands[1]));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    if (emit::is_constant(b, o[0], x)) return x == 0 ? o[0] : emit::div(b, o[0], o[1]);
    return emit::is_constant(b, o[1], y) && y != 0 && is_finite(y) ? emit::div(b, o[0], o[1]) : -1;
  }
};

}  // namespace rows

inline constexpr primitive azmul = elementwise_primitive<rows::azmul>();
inline constexpr primitive azdiv = elementwise_primitive<rows::azdiv>();
/// A product of a derivative: in the whole program it becomes azmul where a factor may be infinite, else mul.
inline constexpr primitive mul_undecided = [] {
  primitive p = azmul;
  p.name = "mul?";
  return p;
}();
template <>
struct row_of<&azmul> : rows::azmul {};
template <>
struct row_of<&mul_undecided> : rows::azmul {};
template <>
struct row_of<&azdiv> : rows::azdiv {};
}  // namespace prim

namespace emit {
constexpr int azmul(builder& b, int x, int y) { return b.add1(prim::azmul, {x, y}); }
constexpr int azdiv(builder& b, int x, int y) { return b.add1(prim::azdiv, {x, y}); }
constexpr int times(builder& b, int t, int d) { return b.add1(prim::mul_undecided, {t, d}); }
}  // namespace emit
}  // namespace drx
