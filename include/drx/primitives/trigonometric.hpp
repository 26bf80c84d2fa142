// drx/primitives/trigonometric.hpp: trigonometric functions.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

namespace drx {
namespace prim {
namespace rows {

struct sin : floating_function, singular_value {  // of infinity NaN
  static constexpr const char* name = "sin";
  template <class T>
  DRX_FN static T apply(T x) { return math::sin(x); }
  template <class T>
  static T reference(T x) { return std::sin(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::cos(b, s.operands[0]));
  }
};
struct cos : floating_function, singular_value {
  static constexpr const char* name = "cos";
  template <class T>
  DRX_FN static T apply(T x) { return math::cos(x); }
  template <class T>
  static T reference(T x) { return std::cos(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::neg(b, emit::azmul(b, t, emit::sin(b, s.operands[0])));
  }
};
struct tan : floating_function, singular_value {
  static constexpr const char* name = "tan";
  template <class T>
  DRX_FN static T apply(T x) { return math::sin(x) / math::cos(x); }
  template <class T>
  static T reference(T x) { return std::tan(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    return emit::azmul(b, t, emit::add(b, emit::constant_like(b, t, 1), emit::mul(b, y, y)));
  }
};

}  // namespace rows

inline constexpr primitive sin = elementwise_primitive<rows::sin>();
inline constexpr primitive cos = elementwise_primitive<rows::cos>();
inline constexpr primitive tan = elementwise_primitive<rows::tan>();
template <> struct row_of<&sin> : rows::sin {};
template <> struct row_of<&cos> : rows::cos {};
template <> struct row_of<&tan> : rows::tan {};
}  // namespace prim

namespace emit {
constexpr int sin(builder& b, int x) { return b.add1(prim::sin, {x}); }
constexpr int cos(builder& b, int x) { return b.add1(prim::cos, {x}); }
}  // namespace emit

// clang-format off
template <class A> requires FloatingArray<A>
constexpr A sin(const A& x) { return detail::elementary(prim::sin, x); }
template <class A> requires FloatingArray<A>
constexpr A cos(const A& x) { return detail::elementary(prim::cos, x); }
template <class A> requires FloatingArray<A>
constexpr A tan(const A& x) { return detail::elementary(prim::tan, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sin(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cos(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tan(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
// clang-format on

}  // namespace drx

#endif
