// drx/primitives/hyperbolic.hpp: hyperbolic functions.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

namespace drx {
namespace prim {
namespace rows {

// cut-begin tanh_row
struct tanh : floating_function {
  static constexpr const char* name = "tanh";
  template <class T>
  DRX_FN static T apply(T x) { return math::tanh(x); }
  template <class T>
  static T reference(T x) { return std::tanh(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    return emit::mul(b, t, emit::sub(b, emit::constant_like(b, t, 1), emit::mul(b, y, y)));
  }
};
// cut-end tanh_row

}  // namespace rows

inline constexpr primitive tanh = elementwise_primitive<rows::tanh>();
template <> struct row_of<&tanh> : rows::tanh {};
}  // namespace prim

// clang-format off
template <class A> requires FloatingArray<A>
constexpr A tanh(const A& x) { return detail::elementary(prim::tanh, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
// clang-format on

}  // namespace drx

#endif
