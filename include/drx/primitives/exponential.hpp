// drx/primitives/exponential.hpp: exponentials and logarithms, and the logistic function.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace prim {
namespace rows {

struct exp : floating_function, singular_value {
  static constexpr const char* name = "exp";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_positive, true, false, x.finite && x.not_negative};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::exp(x);
  }
  template <class T>
  static T reference(T x) {
    return std::exp(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) { return emit::azmul(b, t, s.results[0]); }
};
struct log : floating_function, singular_value {
  static constexpr const char* name = "log";
  static constexpr known_value known(const known_value& x) { return {x.finite && x.positive(), false, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::log(x);
  }
  template <class T>
  static T reference(T x) {
    return std::log(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) { return emit::azdiv(b, t, s.operands[0]); }
};
struct log1p : floating_function, singular_value {
  static constexpr const char* name = "log1p";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_negative, x.not_negative, x.not_positive, false};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::log1p(x);
  }
  template <class T>
  static T reference(T x) {
    return std::log1p(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azdiv(b, t, emit::add(b, s.operands[0], emit::constant_like(b, t, 1)));
  }
};
struct expm1 : floating_function, singular_value {
  static constexpr const char* name = "expm1";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_positive, x.not_negative, x.not_positive, false};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::expm1(x);
  }
  template <class T>
  static T reference(T x) {
    return std::expm1(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::add(b, s.results[0], emit::constant_like(b, t, 1)));
  }
};
struct sigmoid : floating_function {
  static constexpr const char* name = "sigmoid";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sigmoid(x);
  }
  template <class T>
  DRX_FN static T begin(T x) {
    return math::sigmoid_begin(x);
  }
  template <class T>
  DRX_FN static T end(T begun, T x) {
    return math::sigmoid_end(begun, x);
  }
  template <class T>
  static T reference(T x) {
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    return emit::times(b, t, emit::mul(b, y, emit::sub(b, emit::constant_like(b, t, 1), y)));
  }
};
struct softplus : floating_function {  // max(x, 0) + log(1 + exp(-|x|)): neither overflows nor loses digits
  static constexpr const char* name = "softplus";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return (x < 0 ? T(0) : x) + math::log1p(math::exp(-math::abs(x)));
  }
  template <class T>
  static T reference(T x) {
    return (x < 0 ? T(0) : x) + std::log1p(std::exp(-std::abs(x)));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t);
};
struct exp2 : floating_function, singular_value {
  static constexpr const char* name = "exp2";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_positive, true, false, x.finite && x.not_negative};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::exp2(x);
  }
  template <class T>
  static T reference(T x) {
    return std::exp2(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::mul(b, s.results[0], emit::constant_like(b, t, 0.69314718055994530942)));
  }
};

}  // namespace rows

inline constexpr primitive exp = elementwise_primitive<rows::exp>();
inline constexpr primitive log = elementwise_primitive<rows::log>();
inline constexpr primitive log1p = elementwise_primitive<rows::log1p>();
inline constexpr primitive expm1 = elementwise_primitive<rows::expm1>();
inline constexpr primitive sigmoid = elementwise_primitive<rows::sigmoid>();
inline constexpr primitive softplus = elementwise_primitive<rows::softplus>();
inline constexpr primitive exp2 = elementwise_primitive<rows::exp2>();
template <>
struct row_of<&exp> : rows::exp {};
template <>
struct row_of<&log> : rows::log {};
template <>
struct row_of<&log1p> : rows::log1p {};
template <>
struct row_of<&expm1> : rows::expm1 {};
template <>
struct row_of<&sigmoid> : rows::sigmoid {};
template <>
struct row_of<&softplus> : rows::softplus {};
template <>
struct row_of<&exp2> : rows::exp2 {};

constexpr int rows::softplus::partial(builder& b, const rule_site& s, int, int t) {
  return emit::times(b, t, b.add1(prim::sigmoid, {s.operands[0]}));
}
}  // namespace prim

namespace emit {
constexpr int exp(builder& b, int x) { return b.add1(prim::exp, {x}); }
constexpr int log(builder& b, int x) { return b.add1(prim::log, {x}); }
}  // namespace emit

// clang-format off
/// e to the power x.
template <class A> requires FloatingArray<A>
constexpr A exp(const A& x) { return detail::elementary(prim::exp, x); }
/// The natural logarithm: NaN below 0, minus infinity at 0.
template <class A> requires FloatingArray<A>
constexpr A log(const A& x) { return detail::elementary(prim::log, x); }
/// log(1 + x), accurate for small x.
template <class A> requires FloatingArray<A>
constexpr A log1p(const A& x) { return detail::elementary(prim::log1p, x); }
/// exp(x) - 1, accurate for small x.
template <class A> requires FloatingArray<A>
constexpr A expm1(const A& x) { return detail::elementary(prim::expm1, x); }
/// 1 / (1 + exp(-x)), without overflow.
template <class A> requires FloatingArray<A>
constexpr A sigmoid(const A& x) { return detail::elementary(prim::sigmoid, x); }
/// log(1 + exp(x)), without overflow. Its derivative is sigmoid(x).
template <class A> requires FloatingArray<A>
constexpr A softplus(const A& x) { return detail::elementary(prim::softplus, x); }
/// 2 to the power x.
template <class A> requires FloatingArray<A>
constexpr A exp2(const A& x) { return detail::elementary(prim::exp2, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why exp(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why log(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why log1p(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why expm1(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sigmoid(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why softplus(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why exp2(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
// clang-format on

DRX_SILENT(exp)
DRX_SILENT(expm1)
DRX_SILENT(log)
DRX_SILENT(log1p)
DRX_SILENT(sigmoid)
DRX_SILENT(softplus)
DRX_SILENT(exp2)

}  // namespace drx
