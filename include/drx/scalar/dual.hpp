// drx/scalar/dual.hpp: dual numbers: a value and its derivatives in N directions. Forward differentiation of ordinary code.
#pragma once

#include <drx/scalar/arithmetic.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace drx::ad {

/// value + sum of tangent[i] * e_i with e_i e_j = 0. T is float, double, a pack, or again a dual or var: derivatives of
/// higher order nest by type. A T, or what converts to one, converts to a dual without tangent.
template <class T, int N>
struct dual {
  static_assert(Number<T> && !std::is_integral_v<T>, "drx::ad::dual<T, N>: T is float, double, a pack, a dual or a var");
  static_assert(N >= 1, "drx::ad::dual<T, N>: at least one direction");
  using value_type = T;
  static constexpr int directions = N;

  T value{};
  T tangent[static_cast<std::size_t>(N)]{};

  constexpr dual() = default;
  template <class U>
    requires(Number<U> && level<U> <= level<T> && std::is_constructible_v<T, U>)
  DRX_FN constexpr dual(const U& constant) : value(static_cast<T>(constant)) {}
  /// The first value of a direction: x with tangent 1 in direction i.
  DRX_FN static constexpr dual variable(const T& x, int i = 0) {
    dual r(x);
    r.tangent[i] = T(1);
    return r;
  }

  template <class Why = error::a_drx_scalar_is_not_converted_to_a_plain_number>
  operator double() const = delete;  // drx: call exp(x), not std::exp(x); a comparison or x.value gives the plain number
};

/// The chain rule: y with the tangents of x times p.
template <class T, int N, class P>
DRX_FN constexpr dual<T, N> chain(const dual<T, N>& x, const std::type_identity_t<T>& y, const P& p) {
  dual<T, N> r(y);
  for (int i = 0; i < N; ++i) r.tangent[i] = detail::scaled(x.tangent[i], p);
  return r;
}
template <class T, int N, class P, class Q>
DRX_FN constexpr dual<T, N> chain(const dual<T, N>& a, const dual<T, N>& b, const std::type_identity_t<T>& y, const P& p, const Q& q) {
  dual<T, N> r(y);
  for (int i = 0; i < N; ++i) r.tangent[i] = detail::scaled(a.tangent[i], p) + detail::scaled(b.tangent[i], q);
  return r;
}
template <class T, int N>
DRX_FN constexpr dual<T, N> chain(const dual<T, N>& a, const dual<T, N>& b, const dual<T, N>& c, const T& y, const T& p, const T& q, const T& r) {
  dual<T, N> z(y);
  for (int i = 0; i < N; ++i) z.tangent[i] = a.tangent[i] * p + b.tangent[i] * q + c.tangent[i] * r;
  return z;
}
/// The same, where a partial may be infinite: a tangent that is zero stays zero.
template <class T, int N>
DRX_FN constexpr dual<T, N> strict_chain(const dual<T, N>& x, const std::type_identity_t<T>& y, const std::type_identity_t<T>& p) {
  dual<T, N> r(y);
  for (int i = 0; i < N; ++i) r.tangent[i] = detail::times(x.tangent[i], p);
  return r;
}
template <class T, int N>
DRX_FN constexpr dual<T, N> strict_chain(const dual<T, N>& a, const dual<T, N>& b, const std::type_identity_t<T>& y,
                                         const std::type_identity_t<T>& p, const std::type_identity_t<T>& q) {
  dual<T, N> r(y);
  for (int i = 0; i < N; ++i) r.tangent[i] = detail::times(a.tangent[i], p) + detail::times(b.tangent[i], q);
  return r;
}
template <class Mask, class T, int N>
DRX_FN constexpr dual<T, N> select_lanes(const Mask& mask, const dual<T, N>& a, const dual<T, N>& b) {
  dual<T, N> r(select(mask, a.value, b.value));
  for (int i = 0; i < N; ++i) r.tangent[i] = select(mask, a.tangent[i], b.tangent[i]);
  return r;
}

namespace detail {

/// The scalar that a derivative of f at X is taken over: X, or what f's result is made of where that is of a higher
/// level, since f may have captured it.
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

/// Tangent i of what a function returned for arguments of type S: zero where it did not depend on them.
template <class S, class Y>
DRX_FN constexpr auto tangent_of(const Y& y, [[maybe_unused]] int i) {
  static_assert(level<Y> <= level<S>, "drx::ad: a function that is differentiated returns no scalar of a higher level than those it has seen");
  if constexpr (std::is_same_v<Y, S>) {
    return y.tangent[i];
  } else {
    return typename S::value_type(0);
  }
}
}  // namespace detail

/// df/dx at x for a function of one number. It may be taken inside of functions that are differentiated themselves.
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
