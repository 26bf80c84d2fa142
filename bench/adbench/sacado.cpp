// Sacado: forward duals of fixed size for Jacobians, reverse (RAD) for gradients.
#include "rows.hpp"

#include <Sacado_Fad_SFad.hpp>
#include <Sacado_trad.hpp>

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
  add_gradients(suite, in, "Sacado RAD", [](const auto& x, auto& g, const auto& f) { gradient(x, g, f); });
  add_jacobians(suite, in, "Sacado SFad", [](const auto& f, const auto& x, auto& j) { jacobian(f, x, j); });
}

}  // namespace adbench
