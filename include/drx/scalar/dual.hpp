// drx/scalar/dual.hpp: dual numbers, a value and its derivatives in N directions: forward differentiation of ordinary
// code.
#pragma once

#include <drx/scalar/arithmetic.hpp>
#include <drx/scalar/lanes.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace drx::ad {

/// value + sum of tangent[i] * e_i with e_i e_j = 0. T is float, double, a pack, or again a dual or var: derivatives of
/// higher order nest by type. A T, or a value that converts to one, converts to a dual without tangent.
template <class T, int N>
struct dual {
  static_assert(Number<T> && !std::is_integral_v<T>,
                "drx::ad::dual<T, N>: T is float, double, a pack, a dual or a var");
  static_assert(N >= 1, "drx::ad::dual<T, N>: at least one direction");
  using value_type = T;
  static constexpr int directions = N;

  /// The first N count. They stand before the value, so that copies read in one piece what was written so.
  T tangent[detail::stored_tangents<T, N>]{};
  T value{};

  constexpr dual() = default;
  template <class U>
    requires(Number<U> && level<U> <= level<T> && std::is_constructible_v<T, U>)
  DRX_FN constexpr dual(const U& constant) : value(static_cast<T>(constant)) {}
  /// x with tangent 1 in direction i: the input of a derivative in that direction.
  DRX_FN static constexpr dual variable(const T& x, int i = 0) {
    dual r(x);
    detail::unit_tangent<detail::tangent_lanes<T, N>>(r.tangent, i, T(1));
    return r;
  }

  template <class Why = error::a_drx_scalar_is_not_converted_to_a_plain_number>
  operator double() const = delete;  // drx: call exp(x), not std::exp(x); a comparison or x.value gives the plain number
};

namespace detail {
/// A dual of `value`, whose tangents are f of the tangents of x.
template <class T, int N, class F, class... X>
DRX_INLINE constexpr dual<T, N> with_tangents(const T& value, F f, const X&... x) {
  dual<T, N> r(value);
  for_lanes<tangent_lanes<T, N>>(r.tangent, f, x.tangent...);
  return r;
}
/// t * p, also for lanes.
template <class V, class P>
DRX_INLINE constexpr V strictly_scaled(const V& t, const P& p) {
  if constexpr (Number<V>) {
    return times(t, p);
  } else {
    return lanes_times(t, p);
  }
}
/// The chain rule's functors on tangents and partial derivatives. (They are no lambdas, since these are inlined by
/// force.)
template <class P>
struct by_one {
  const P& p;
  template <class V>
  DRX_INLINE constexpr auto operator()(const V& t) const {
    return t * p;
  }
};
template <class P, class Q>
struct by_two {
  const P& p;
  const Q& q;
  template <class V>
  DRX_INLINE constexpr auto operator()(const V& s, const V& t) const {
    return s * p + t * q;
  }
};
template <class P>
struct by_three {
  const P &p, &q, &r;
  template <class V>
  DRX_INLINE constexpr auto operator()(const V& s, const V& t, const V& u) const {
    return s * p + t * q + u * r;
  }
};
template <class P>
struct strictly_by_one {
  const P& p;
  template <class V>
  DRX_INLINE constexpr V operator()(const V& t) const {
    return strictly_scaled(t, p);
  }
};
template <class P>
struct strictly_by_two {
  const P &p, &q;
  template <class V>
  DRX_INLINE constexpr V operator()(const V& s, const V& t) const {
    return strictly_scaled(s, p) + strictly_scaled(t, q);
  }
};
}  // namespace detail

/// The chain rule: y with the tangents of x times p.
template <class T, int N, class P>
DRX_INLINE constexpr dual<T, N> chain(const dual<T, N>& x, const std::type_identity_t<T>& y, const P& partial) {
  const auto& p = detail::lowered<T>(partial);
  return detail::with_tangents<T, N>(y, detail::by_one<std::remove_cvref_t<decltype(p)>>{p}, x);
}
template <class T, int N, class P, class Q>
DRX_INLINE constexpr dual<T, N> chain(const dual<T, N>& a, const dual<T, N>& b, const std::type_identity_t<T>& y,
                                      const P& by_a, const Q& by_b) {
  const auto &p = detail::lowered<T>(by_a), &q = detail::lowered<T>(by_b);
  return detail::with_tangents<T, N>(
      y, detail::by_two<std::remove_cvref_t<decltype(p)>, std::remove_cvref_t<decltype(q)>>{p, q}, a, b);
}
template <class T, int N>
DRX_INLINE constexpr dual<T, N> chain(const dual<T, N>& a, const dual<T, N>& b, const dual<T, N>& c, const T& y,
                                      const T& p, const T& q, const T& r) {
  return detail::with_tangents<T, N>(y, detail::by_three<T>{p, q, r}, a, b, c);
}
/// The same for partial derivatives that may be infinite: a zero tangent stays zero.
template <class T, int N>
DRX_INLINE constexpr dual<T, N> strict_chain(const dual<T, N>& x, const std::type_identity_t<T>& y,
                                             const std::type_identity_t<T>& p) {
  return detail::with_tangents<T, N>(y, detail::strictly_by_one<T>{p}, x);
}
template <class T, int N>
DRX_INLINE constexpr dual<T, N> strict_chain(const dual<T, N>& a, const dual<T, N>& b, const std::type_identity_t<T>& y,
                                             const std::type_identity_t<T>& p, const std::type_identity_t<T>& q) {
  return detail::with_tangents<T, N>(y, detail::strictly_by_two<T>{p, q}, a, b);
}
/// The sum of the lanes of x, in all lanes. lane_count<S> tells how many they are.
template <class T, int N>
DRX_FN constexpr dual<T, N> sum_of_lanes(const dual<T, N>& x) {
  if constexpr (lane_count<T> == 1) {
    return x;
  } else {
    dual<T, N> r(static_cast<T>(sum_of_lanes(x.value)));
    for (std::size_t i = 0; i < detail::stored_tangents<T, N>; ++i)
      r.tangent[i] = static_cast<T>(sum_of_lanes(x.tangent[i]));
    return r;
  }
}
template <class Mask, class T, int N>
DRX_FN constexpr dual<T, N> select_lanes(const Mask& mask, const dual<T, N>& a, const dual<T, N>& b) {
  dual<T, N> r(select(mask, a.value, b.value));
  for (std::size_t i = 0; i < detail::stored_tangents<T, N>; ++i)
    r.tangent[i] = select(mask, a.tangent[i], b.tangent[i]);
  return r;
}

namespace detail {

/// The scalar type by which a derivative of f at X is taken: X, or the type of f's result if that is of a higher level,
/// since f may have captured it.
template <class R>
struct element {
  using type = R;
};
template <class R, std::size_t M>
struct element<std::array<R, M>> : element<R> {};
template <class F, class... X>
using seen_by = floating_t<typename element<std::remove_cvref_t<std::invoke_result_t<F, const X&...>>>::type>;
template <class F, class X>
using base_of = higher_t<floating_t<X>, seen_by<F, X>>;

/// Tangent i of a function's result for arguments of type S: zero where the result does not depend on them.
template <class S, class Y>
DRX_FN constexpr auto tangent_of(const Y& y, [[maybe_unused]] int i) {
  static_assert(
      level<Y> <= level<S>,
      "drx::ad: a function that is differentiated returns no scalar of a higher level than those it has seen");
  if constexpr (std::is_same_v<Y, S>) {
    return y.tangent[i];
  } else {
    return typename S::value_type(0);
  }
}
}  // namespace detail

/// df/dx at x for a function of one number. It may be taken inside functions that are differentiated themselves.
///     derivative([](auto x) { return x * sin(x); }, 2.0)
template <class F, class X>
  requires Number<X>
DRX_FN constexpr auto derivative(const F& f, const X& x) {
  using S = dual<detail::base_of<F, X>, 1>;
  using T = typename S::value_type;
  return T(detail::tangent_of<S>(f(S::variable(T(x))), 0));
}
/// The function x -> df/dx.
template <class F>
constexpr auto derivative(F f) {
  return [f](const auto& x) { return ad::derivative(f, x); };
}

}  // namespace drx::ad
