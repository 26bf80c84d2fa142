// Sacado: forward duals of fixed size for Jacobians, reverse (RAD) for gradients.
#include "inputs.hpp"

#include <Sacado_Fad_SFad.hpp>
#include <Sacado_trad.hpp>

#include <algorithm>

namespace adbench {

namespace {

template <class F, std::size_t N, class J>
void jacobian(const F& f, const std::array<double, N>& x, J& j) {
  using scalar = Sacado::Fad::SFad<double, static_cast<int>(N)>;
  std::array<scalar, N> in;
  for (std::size_t i = 0; i < N; ++i) in[i] = scalar(static_cast<int>(N), static_cast<int>(i), x[i]);
  const auto y = f(in);
  for (std::size_t o = 0; o < y.size(); ++o)
    for (std::size_t i = 0; i < N; ++i) j[o][i] = y[o].dx(static_cast<int>(i));
}
template <bool Complicated>
void hands(bench::suite& suite, const char* row, const inputs::track<Complicated>& f, const inputs& in) {
  using track = inputs::track<Complicated>;
  typename track::input x;
  std::copy_n(in.angles.begin(), x.size(), x.begin());
  add<typename track::jacobian>(suite, row, "Sacado SFad", [&f, x](auto& j) { jacobian(f, x, j); });
}
using variable = Sacado::Rad::ADvar<double>;
template <std::size_t N, class F>
void gradient(const std::array<double, N>& x, std::array<double, N>& g, F f) {
  std::array<variable, N> in;
  for (std::size_t i = 0; i < N; ++i) in[i] = x[i];
  const variable y = f(in);
  variable::Gradcomp();
  for (std::size_t i = 0; i < N; ++i) g[i] = in[i].adj();
}

}  // namespace

void add_sacado(bench::suite& suite, const inputs& in) {
  add<inputs::mixture::vector>(suite, mixture_row, "Sacado RAD", [&](auto& g) {
    gradient(in.theta, g, [&](const auto& t) { return in.of_points.value(t, in.points); });
  });
  add<inputs::recurrent::vector>(suite, lstm_row, "Sacado RAD", [&](auto& g) { gradient(in.weights, g, in.text); });
  add<jacobians>(suite, bundle_row, "Sacado SFad", [&](auto& j) {
    for (std::size_t i = 0; i < j.size(); ++i) jacobian(in.view, in.observations[i], j[i]);
  });
  hands(suite, simple_row, in.simple, in);
  hands(suite, complicated_row, in.complicated, in);
}

}  // namespace adbench
