// ADBench's functions for Enzyme and enzyme_twin.py: the compiler inside the Python package compiles and differentiates
// this.
#pragma once

#include "ba.hpp"
#include "gmm.hpp"
#include "hand_tracking.hpp"
#include "lstm.hpp"

#include <array>
#include <cstddef>

extern int enzyme_const, enzyme_dup, enzyme_dupv, enzyme_dupnoneedv, enzyme_width;
template <class Result, class... Inputs>
Result __enzyme_autodiff(void*, Inputs...);
template <class Result, class... Inputs>
Result __enzyme_fwddiff(void*, Inputs...);

// The package does not link the C++ library.
void* operator new(std::size_t bytes) { return __builtin_malloc(bytes); }
void operator delete(void* at) noexcept { __builtin_free(at); }
void operator delete(void* at, std::size_t) noexcept { __builtin_free(at); }

namespace adbench::enzyme_side {

/// An argument of the package, seen as the type that the functions take.
template <class To, class Tensor>
const To& as(const Tensor& x) {
  return reinterpret_cast<const To&>(x);
}
template <class To, class Tensor>
To& as(Tensor& x) {
  return reinterpret_cast<To&>(x);
}

using mixture = gmm<10, 5>;
inline constexpr std::size_t samples = 1000, characters = 1024;
using samples_of = std::array<mixture::point, samples>;
inline double posterior(const mixture::vector* theta, const samples_of* points) {
  const mixture m{samples, 1, 0};
  const auto s = m.prepare(*theta);
  double sum = m.once(s);
  for (const auto& p : *points) sum += m(s, p);
  return sum;
}
template <class G, class T, class X>
void mixture_gradient(G& gradient, const T& theta, const X& points) {
  auto& g = as<mixture::vector>(gradient);
  g = {};
  __enzyme_autodiff<double>(reinterpret_cast<void*>(posterior), enzyme_dup, &as<mixture::vector>(theta), &g,
                            enzyme_const, &as<samples_of>(points));
}

using network = lstm<2, 14>;
inline double loss(const network::vector* w, const network* text) { return (*text)(*w); }
template <class G, class W, class S, class X>
void lstm_gradient(G& gradient, const W& weights, const S& start, const X& sequence) {
  static const network text = [&] {
    const auto& x = as<std::array<network::character, characters>>(sequence);
    return network{as<network::state>(start), {x.begin(), x.end()}};
  }();
  auto& g = as<network::vector>(gradient);
  g = {};
  __enzyme_autodiff<double>(reinterpret_cast<void*>(loss), enzyme_dup, &as<network::vector>(weights), &g, enzyme_const,
                            &text);
}

inline double error(const bundle::input* x, const bundle* view, std::size_t which) { return (*view)(*x)[which]; }
template <class J, class X>
void bundle_jacobians(J& jacobians, const X& observations) {
  constexpr std::size_t n = sizeof(X) / sizeof(bundle::input);
  const bundle view{{310, 250}};
  const auto& x = as<std::array<bundle::input, n>>(observations);
  auto& j = as<std::array<std::array<bundle::input, 2>, n>>(jacobians);
  j = {};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t o = 0; o < 2; ++o)
      __enzyme_autodiff<double>(reinterpret_cast<void*>(error), enzyme_dup, &x[i], &j[i][o], enzyme_const, &view,
                                enzyme_const, o);
}

template <class Track>
void errors(const typename Track::input* x, const Track* hand, std::array<double, Track::outputs>* e) {
  *e = (*hand)(*x);
}
/// Forward mode, with a pass for each input.
template <bool Complicated, class J, class X, class H>
void hand_jacobian(J& jacobian, const X& at, const H& hand) {
  using track = tracking<5, 100, Complicated>;
  auto& j = as<typename track::jacobian>(jacobian);
  constexpr std::size_t n = track::inputs;
  static std::array<typename track::input, n> seeds;
  for (std::size_t i = 0; i < n; ++i) seeds[i][i] = 1;
  std::array<double, track::outputs> e;
  static std::array<std::array<double, track::outputs>, n> slopes;
  __enzyme_fwddiff<void>(reinterpret_cast<void*>(errors<track>), enzyme_width, n, enzyme_dupv,
                         sizeof(typename track::input), &as<typename track::input>(at), &seeds, enzyme_const,
                         &as<track>(hand), enzyme_dupnoneedv, sizeof(e), &e, &slopes);
  for (std::size_t o = 0; o < track::outputs; ++o)
    for (std::size_t i = 0; i < n; ++i) j[o][i] = slopes[i][o];
}
template <class J, class X, class H>
void simple_hand(J& jacobian, const X& at, const H& hand) {
  hand_jacobian<false>(jacobian, at, hand);
}
template <class J, class X, class H>
void complicated_hand(J& jacobian, const X& at, const H& hand) {
  hand_jacobian<true>(jacobian, at, hand);
}

}  // namespace adbench::enzyme_side
