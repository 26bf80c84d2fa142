// drx/primitives/special.hpp: the error function, the gamma function's logarithm, gelu.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/hyperbolic.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/scalar/erf.hpp>
#include <drx/scalar/gamma.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim {
namespace rows {

struct erf : floating_function {
  static constexpr const char* name = "erf";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::erf(x);
  }
  template <class T>
  static T reference(T x) {
    return std::erf(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0], bell = emit::exp(b, emit::neg(b, emit::mul(b, x, x)));
    return emit::times(b, t, emit::mul(b, bell, emit::constant_like(b, t, 1.12837916709551257390)));  // 2 / sqrt(pi)
  }
};
struct erfc : floating_function {
  static constexpr const char* name = "erfc";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::erfc(x);
  }
  template <class T>
  static T reference(T x) {
    return std::erfc(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0], bell = emit::exp(b, emit::neg(b, emit::mul(b, x, x)));
    return emit::times(b, t, emit::mul(b, bell, emit::constant_like(b, t, -1.12837916709551257390)));  // 2 / sqrt(pi)
  }
};
/// Fast for positive numbers.
struct gamma_function : floating_function, singular_value {
  template <class T>
  DRX_INLINE static bool near(T x) {
    return x > 0;
  }
};
struct lgamma : gamma_function {
  static constexpr const char* name = "lgamma";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::lgamma_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::lgamma(x);
  }
  template <class T>
  static T reference(T x) {
    return math::lgamma(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, b.add1(prim_digamma(), {s.operands[0]}));
  }
  static constexpr const primitive& prim_digamma();
};
struct digamma : gamma_function {
  static constexpr const char* name = "digamma";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::digamma_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::digamma(x);
  }
  template <class T>
  static T reference(T x) {
    return math::digamma(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, b.add1(prim_polygamma(), {emit::constant_like(b, t, 1), s.operands[0]}));
  }
  static constexpr const primitive& prim_polygamma();
};
struct polygamma : same_type, on_floating, singular_value {  // (order, x)
  static constexpr const char* name = "polygamma";
  static constexpr int arity = 2;
  template <class T>
  DRX_FN static T apply(T n, T x) {
    return math::polygamma(n, x);
  }
  template <class T>
  static T reference(T n, T x) {
    return math::polygamma(n, x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return zero_tangent;  // orders are whole numbers
    const int next = emit::add(b, s.operands[0], emit::constant_like(b, t, 1));
    return emit::azmul(b, t, b.add1(prim(), {next, s.operands[1]}));
  }
  static constexpr const primitive& prim();
};

}  // namespace rows

inline constexpr primitive erf = elementwise_primitive<rows::erf>();
inline constexpr primitive erfc = elementwise_primitive<rows::erfc>();
inline constexpr primitive lgamma = elementwise_primitive<rows::lgamma>();
inline constexpr primitive digamma = elementwise_primitive<rows::digamma>();
inline constexpr primitive polygamma = elementwise_primitive<rows::polygamma>();
template <>
struct row_of<&erf> : rows::erf {};
template <>
struct row_of<&erfc> : rows::erfc {};
template <>
struct row_of<&lgamma> : rows::lgamma {};
template <>
struct row_of<&digamma> : rows::digamma {};
template <>
struct row_of<&polygamma> : rows::polygamma {};

constexpr const primitive& rows::lgamma::prim_digamma() { return prim::digamma; }
constexpr const primitive& rows::digamma::prim_polygamma() { return prim::polygamma; }
constexpr const primitive& rows::polygamma::prim() { return prim::polygamma; }
}  // namespace prim

// clang-format off
/// The error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
template <class A> requires FloatingArray<A>
constexpr A erf(const A& x) { return detail::elementary(prim::erf, x); }
/// 1 - erf(x), accurate where it is small.
template <class A> requires FloatingArray<A>
constexpr A erfc(const A& x) { return detail::elementary(prim::erfc, x); }
/// The logarithm of the magnitude of the gamma function at x; infinite at 0 and at the negative integers. It has
/// derivatives of all orders: digamma, then polygamma.
template <class A> requires FloatingArray<A>
constexpr A lgamma(const A& x) { return detail::elementary(prim::lgamma, x); }
/// The derivative of lgamma. At 0 infinite with the sign of -x, at negative integers NaN.
template <class A> requires FloatingArray<A>
constexpr A digamma(const A& x) { return detail::elementary(prim::digamma, x); }
/// The derivative of digamma of order Order, from 0 to 170 (NaN above).  polygamma<1>(x): trigamma
template <int Order, class A> requires(FloatingArray<A> && Order >= 0)
constexpr A polygamma(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return b.add1(prim::polygamma, {emit::constant_like(b, id, Order), id}); });
}
/// x times the normal distribution function of x: x erfc(-x / sqrt(2)) / 2.
template <class A> requires FloatingArray<A>
constexpr A gelu(const A& x) { return 0.5 * x * erfc(-0.70710678118654752440 * x); }
/// gelu by tanh(sqrt(2 / pi) (x + 0.044715 x^3)), which differs by up to 0.0005.
template <class A> requires FloatingArray<A>
constexpr A gelu_tanh(const A& x) { return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * (x * x * x)))); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why erf(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why erfc(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why lgamma(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why digamma(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <int Order, class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why polygamma(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why gelu(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why gelu_tanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
// clang-format on

DRX_SILENT(digamma)
DRX_SILENT(erf)
DRX_SILENT(erfc)
DRX_SILENT(gelu)
DRX_SILENT(gelu_tanh)
DRX_SILENT(lgamma)
DRX_SILENT(polygamma)

}  // namespace drx
