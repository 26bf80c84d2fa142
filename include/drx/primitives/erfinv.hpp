// drx/primitives/erfinv.hpp: the inverse of the error function, which makes normal variates from uniform ones.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/special.hpp>
#include <drx/scalar/erfinv.hpp>

namespace drx {
namespace prim {
namespace rows {
struct erfinv : floating_function, singular_value {
  static constexpr const char* name = "erfinv";
  static constexpr known_value known(const known_site& s) {
    return {patterns::is_of_uniform(s.definition, s.e), false, false, false};
  }
  template <class T>
  DRX_FN static T apply(T x) {
    return math::erfinv(x);
  }
  template <class T>
  static T reference(T x) {  // Newton's steps on the standard library's erf and erfc
    const long double a = std::abs(static_cast<long double>(x)), slope = 1.1283791670955125738961589031L;
    if (!(a < 1)) return a == 1 ? x * std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
    long double y = math::erfinv(static_cast<double>(a));
    for (int i = 0; i < 3; ++i) y -= (a < 0.5L ? std::erf(y) - a : 1 - a - std::erfc(y)) / (slope * std::exp(-y * y));
    return static_cast<T>(std::copysign(y, static_cast<long double>(x)));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {  // t sqrt(pi) / 2 exp(y^2)
    const int y = s.results[0];
    const int half_root_of_pi = emit::constant_like(b, t, 0.88622692545275801365);
    return emit::azmul(b, t, emit::mul(b, half_root_of_pi, emit::exp(b, emit::mul(b, y, y))));
  }
};
}  // namespace rows
inline constexpr primitive erfinv = elementwise_primitive<rows::erfinv>();
template <>
struct row_of<&erfinv> : rows::erfinv {};
}  // namespace prim

/// The y with erf(y) = x, elementwise, for float or double; infinite at -1 and 1, NaN beyond.
template <class A>
  requires FloatingArray<A>
constexpr A erfinv(const A& x) {
  return detail::elementary(prim::erfinv, x);
}
template <class A, class Why = detail::not_floating_t<A>>
  requires detail::NotFloating<A>
Why erfinv(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(erfinv)

}  // namespace drx
