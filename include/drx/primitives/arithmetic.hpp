// drx/primitives/arithmetic.hpp: + - * / and negation, min, max.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace prim {
namespace rows {

struct add : same_type, on_numbers {
  static constexpr const char* name = "add";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) { return x + y; }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return static_cast<T>(wrapping(x) + wrapping(y));
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder&, const rule_site&, int, int t) { return t; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy) return emit::constant_like(b, o[0], x + y);
    return cx && x == 0 ? o[1] : cy && y == 0 ? o[0] : -1;
  }
};
struct sub : same_type, on_numbers {
  static constexpr const char* name = "sub";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) {
    known_value r = s.operands[0] + -s.operands[1];
    r.not_positive = r.not_positive || patterns::below_maximum(s.definition, s.e).has_value();
    return r;
  }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return static_cast<T>(wrapping(x) - wrapping(y));
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site&, int i, int t) { return i == 0 ? t : emit::neg(b, t); }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy) return emit::constant_like(b, o[0], x - y);
    return cy && y == 0 ? o[0] : cx && x == 0 ? emit::neg(b, o[1]) : -1;
  }
};
struct mul : same_type, on_numbers {
  static constexpr const char* name = "mul";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) {
    known_value r = s.operands[0] * s.operands[1];
    r.not_negative = r.not_negative || s.e.operands[0] == s.e.operands[1];
    return r;
  }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return static_cast<T>(wrapping(x) * wrapping(y));
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return emit::times(b, t, s.operands[1 - i]);
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy) return emit::constant_like(b, o[0], x * y);
    return cx && x == 1 ? o[1] : cy && y == 1 ? o[0] : -1;
  }
};
struct div : same_type, on_numbers, singular_value {  // integers divide as in C++, towards zero
  static constexpr const char* name = "div";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) {
    known_value r = s.operands[0] / s.operands[1];
    r.finite = r.finite || (s.operands[0].finite && patterns::is_share(s.definition, s.e));
    return r;
  }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      return y == 0 ? T(0) : y == T(-1) ? static_cast<T>(-wrapping(x)) : x / y;  // defined for every input
    } else {
      return x / y;
    }
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return emit::azdiv(b, t, s.operands[1]);  // d/dx = 1/y; d/dy = -(x/y)/y
    return emit::neg(b, emit::azdiv(b, emit::azmul(b, t, s.results[0]), s.operands[1]));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy && y != 0 && is_floating(b.type(o[0]).type)) return emit::constant_like(b, o[0], x / y);
    return cy && y == 1 ? o[0] : -1;
  }
};
struct neg : same_type, on_numbers {
  static constexpr const char* name = "neg";
  static constexpr int arity = 1;
  static constexpr known_value known(const known_value& x) { return -x; }
  template <class T>
  DRX_INLINE static constexpr T apply(T x) {
    return static_cast<T>(-wrapping(x));
  }
  template <class T>
  static T reference(T x) {
    return apply(x);
  }
  static constexpr int partial(builder& b, const rule_site&, int, int t) { return emit::neg(b, t); }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&);
};
struct maximum : same_type, on_numbers {  // on a tie both get half of the derivative; a NaN wins
  static constexpr const char* name = "max";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) { return larger_of(x, y); }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    const T larger = x > y ? x : y;  // two choices: from one with `or` g++ makes branches, which have no vectors
    return x != x ? x : larger;
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return share(b, s.operands[i], s.operands[1 - i], s.results[0], t);
  }
  /// t where `mine` won, half of it on a tie, else 0.
  static constexpr int share(builder& b, int mine, int other, int result, int t) {
    const int half = emit::mul(b, t, emit::constant_like(b, t, 0.5));
    const int wins = emit::equal(b, mine, result);
    const int won = emit::where(b, wins, t, emit::constant_like(b, t, 0));
    return emit::where(b, emit::equal(b, mine, other), half, won);
  }
};
struct minimum : same_type, on_numbers {
  static constexpr const char* name = "min";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) { return -larger_of(-x, -y); }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    const T smaller = x < y ? x : y;
    return x != x ? x : smaller;
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return maximum::share(b, s.operands[i], s.operands[1 - i], s.results[0], t);
  }
};

}  // namespace rows

inline constexpr primitive add = elementwise_primitive<rows::add>();
inline constexpr primitive sub = elementwise_primitive<rows::sub>();
inline constexpr primitive mul = elementwise_primitive<rows::mul>();
inline constexpr primitive div = elementwise_primitive<rows::div>();
inline constexpr primitive neg = elementwise_primitive<rows::neg>();
inline constexpr primitive maximum = elementwise_primitive<rows::maximum>();
inline constexpr primitive minimum = elementwise_primitive<rows::minimum>();
template <>
struct row_of<&add> : rows::add {};
template <>
struct row_of<&sub> : rows::sub {};
template <>
struct row_of<&mul> : rows::mul {};
template <>
struct row_of<&div> : rows::div {};
template <>
struct row_of<&neg> : rows::neg {};
template <>
struct row_of<&maximum> : rows::maximum {};
template <>
struct row_of<&minimum> : rows::minimum {};

constexpr int rows::neg::simplify(builder& b, const vec<int>& o, const attributes&) {
  double x = 0;
  if (emit::is_constant(b, o[0], x)) return emit::constant_like(b, o[0], -x);
  const entry* e = b.definition(o[0]);
  return e && e->prim == &prim::neg ? e->operands[0] : -1;
}
}  // namespace prim

namespace emit {
constexpr int add(builder& b, int x, int y) { return b.add1(prim::add, {x, y}); }
constexpr int sub(builder& b, int x, int y) { return b.add1(prim::sub, {x, y}); }
constexpr int mul(builder& b, int x, int y) { return b.add1(prim::mul, {x, y}); }
constexpr int div(builder& b, int x, int y) { return b.add1(prim::div, {x, y}); }
constexpr int neg(builder& b, int x) { return b.add1(prim::neg, {x}); }
}  // namespace emit

// Elementwise operations; shapes broadcast as in NumPy, element types must be equal, and a literal takes the array's
// type.
// clang-format off
/// The sums of corresponding elements.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator+(const A& a, const B& b) { return detail::binary(prim::add, a, b); }
/// The differences of corresponding elements.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator-(const A& a, const B& b) { return detail::binary(prim::sub, a, b); }
/// The products of corresponding elements; for matrix products see matmul.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator*(const A& a, const B& b) { return detail::binary(prim::mul, a, b); }
/// The quotients of corresponding elements. Integers are rounded towards zero, and give 0 where the divisor is 0.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator/(const A& a, const B& b) { return detail::binary(prim::div, a, b); }
/// The elements negated.
template <class A> requires Array<A>
constexpr A operator-(const A& a) { return detail::elementwise<A, typename A::value_type>(prim::neg, a); }
/// The larger of two, elementwise. On a tie both get half of the derivative.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto max(const A& a, const B& b) { return detail::binary(prim::maximum, a, b); }
/// The smaller of two, elementwise. On a tie both get half of the derivative.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto min(const A& a, const B& b) { return detail::binary(prim::minimum, a, b); }
/// max(a, b), under NumPy's name.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto maximum(const A& a, const B& b) { return detail::binary(prim::maximum, a, b); }
/// min(a, b), under NumPy's name.
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto minimum(const A& a, const B& b) { return detail::binary(prim::minimum, a, b); }

template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator+(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator-(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator*(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator/(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why max(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why maximum(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why min(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why minimum(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why max(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::max(a, b); }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why maximum(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::maximum(a, b); }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why min(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::min(a, b); }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why minimum(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::minimum(a, b); }, x, y); of a structure leaf by leaf: tree_map
// clang-format on

DRX_SILENT(maximum)
DRX_SILENT(minimum)

}  // namespace drx
