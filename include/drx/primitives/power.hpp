// drx/primitives/power.hpp: roots and powers.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/scalar/cbrt.hpp>
#include <drx/scalar/pow.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim {
namespace rows {

struct sqrt : floating_function, singular_value {  // derivative at 0: infinite
  static constexpr const char* name = "sqrt";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_negative, true, false, x.not_zero};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sqrt(x);
  }
  template <class T>
  static T reference(T x) {
    return std::sqrt(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azdiv(b, emit::mul(b, t, emit::constant_like(b, t, 0.5)), s.results[0]);
  }
};
struct rsqrt : floating_function, singular_value {
  static constexpr const char* name = "rsqrt";
  static constexpr known_value known(const known_value& x) { return {x.finite && x.positive(), true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::rsqrt(x);
  }
  template <class T>
  static T reference(T x) {
    return 1 / std::sqrt(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int half = emit::mul(b, t, emit::constant_like(b, t, -0.5));
    return emit::azdiv(b, emit::azmul(b, half, s.results[0]), s.operands[0]);
  }
};
struct pow : same_type, on_floating, singular_value {
  static constexpr const char* name = "pow";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) {
    return {x.finite && x.not_negative && y.finite && (x.not_zero || y.positive()), x.not_negative, false, false};
  }
  template <class T>
  DRX_INLINE static T apply(T x, T y) {
    return math::pow(x, y);
  }
  template <class T>
  static T reference(T x, T y) {
    return std::pow(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    const int x = s.operands[0], y = s.operands[1];
    const int zero = emit::constant_like(b, t, 0), one = emit::constant_like(b, t, 1);
    if (i == 0) {  // y x^(y-1), but 0 where y = 0: there x^(y-1) may be infinite
      double c = 0;
      if (emit::is_constant(b, y, c))
        return c == 0 ? zero_tangent
                      : emit::azmul(b, t, emit::mul(b, y, emit::pow(b, x, emit::constant_like(b, y, c - 1))));
      const int is_zero = emit::equal(b, y, zero);
      const int lower = emit::where(b, is_zero, one, emit::sub(b, y, one));
      return emit::azmul(b, t, emit::azmul(b, y, emit::pow(b, x, lower)));
    }
    const int at_zero = emit::equal(b, x, zero);  // log(x) x^y, but 0 where x = 0
    const int slope = emit::azmul(b, emit::log(b, emit::where(b, at_zero, one, x)), s.results[0]);
    return emit::azmul(b, t, emit::where(b, at_zero, zero, slope));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double y = 0;
    if (!emit::is_constant(b, o[1], y)) return -1;
    return y == 0 ? emit::constant_like(b, o[0], 1) : y == 1 ? o[0] : y == 2 ? emit::mul(b, o[0], o[0]) : -1;
  }
};
struct cbrt : floating_function {  // derivative at 0: infinite
  static constexpr const char* name = "cbrt";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::cbrt(x);
  }
  template <class T>
  static T reference(T x) {
    return std::cbrt(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int third = emit::mul(b, t, emit::constant_like(b, t, 1.0 / 3));
    return emit::azdiv(b, emit::azdiv(b, third, s.results[0]), s.results[0]);  // (y^2 alone may underflow)
  }
};

}  // namespace rows

inline constexpr primitive sqrt = elementwise_primitive<rows::sqrt>();
inline constexpr primitive rsqrt = elementwise_primitive<rows::rsqrt>();
inline constexpr primitive pow = elementwise_primitive<rows::pow>();
inline constexpr primitive cbrt = elementwise_primitive<rows::cbrt>();
template <>
struct row_of<&sqrt> : rows::sqrt {};
template <>
struct row_of<&rsqrt> : rows::rsqrt {};
template <>
struct row_of<&pow> : rows::pow {};
template <>
struct row_of<&cbrt> : rows::cbrt {};
}  // namespace prim

namespace emit {
constexpr int rsqrt(builder& b, int x) { return b.add1(prim::rsqrt, {x}); }
constexpr int pow(builder& b, int x, int y) { return b.add1(prim::pow, {x, y}); }
/// x^n by repeated squaring: exact for integers, and its derivative has no special case.
constexpr int integer_pow(builder& b, int x, std::int64_t n) {
  const int one = constant_like(b, x, 1);
  if (n < 0) {
    if (!is_floating(b.type(x).type)) throw "drx: pow: an integer array to a negative power; cast it to double first";
    return div(b, one, integer_pow(b, x, -n));
  }
  int result = one;
  for (int power = x; n > 0; n /= 2) {
    if (n % 2 != 0) result = mul(b, result, power);
    if (n > 1) power = mul(b, power, power);
  }
  return result;
}
}  // namespace emit

// clang-format off
/// The square root: NaN below 0; at 0 the derivative is infinite.
template <class A> requires FloatingArray<A>
constexpr A sqrt(const A& x) { return detail::elementary(prim::sqrt, x); }
/// 1 / sqrt(x).
template <class A> requires FloatingArray<A>
constexpr A rsqrt(const A& x) { return detail::elementary(prim::rsqrt, x); }
/// x x, for numbers of any type.
template <class A> requires detail::NumberArray<A>
constexpr A square(const A& x) { return x * x; }
/// The cube root, also of negative numbers.
template <class A> requires FloatingArray<A>
constexpr A cbrt(const A& x) { return detail::elementary(prim::cbrt, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sqrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why rsqrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why square(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cbrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
// clang-format on

namespace detail {
template <class X>
concept IntegerLiteral = Literal<X> && std::is_integral_v<X> && !std::is_same_v<X, bool>;
template <class A, class B>
concept Power = FloatingPair<A, B> && !IntegerLiteral<B>;
template <class A, class B>
concept IntegerPower = NumberArray<A> && IntegerLiteral<B>;
template <class A, class B>
concept NoPower = ArraysExpected<A, B> && !Power<A, B> && !IntegerPower<A, B>;
}  // namespace detail

/// x to the power y, elementwise, as in C. With respect to y the derivative at x = 0 is 0.
template <class A, class B>
  requires detail::Power<A, B>
constexpr auto pow(const A& x, const B& y) {
  return detail::binary(prim::pow, x, y);
}
/// x to a whole power by repeated multiplication, also for integers.  pow(x, 3), pow(x, -2)
template <class A, class B>
  requires detail::IntegerPower<A, B>
constexpr A pow(const A& x, const B& n) {
  return detail::unary<A>(x, [=](builder& b, int id) { return emit::integer_pow(b, id, n); });
}
template <class A, class B, class Why = decltype(detail::floating_pair_misuse<A, B>())>
  requires detail::NoPower<A, B>
Why pow(const A&, const B&) = delete;  // drx: pow(floating array, floating array or number), pow(array of numbers, 3); of placed values in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(pow)
DRX_SILENT(sqrt)
DRX_SILENT(square)
DRX_SILENT(rsqrt)
DRX_SILENT(cbrt)

}  // namespace drx
