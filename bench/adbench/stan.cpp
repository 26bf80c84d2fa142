// Stan Math: var on the scalar code, with a sweep for each output. The tape's memory is kept from call to call.
#include <stan/math/rev/core.hpp>
#include <stan/math/rev/scal.hpp>

#include "rows.hpp"

#include <algorithm>

namespace adbench {

namespace {

using stan::math::var;

template <std::size_t N>
std::array<var, N> variables(const std::array<double, N>& x) {
  std::array<var, N> in;
  std::copy(x.begin(), x.end(), in.begin());
  return in;
}
template <std::size_t N, class F>
void gradient(const std::array<double, N>& x, std::array<double, N>& g, F f) {
  const auto in = variables(x);
  var y = f(in);
  y.grad();
  for (std::size_t i = 0; i < N; ++i) g[i] = in[i].adj();
  stan::math::recover_memory();
}
template <class F, std::size_t N, class J>
void jacobian(const F& f, const std::array<double, N>& x, J& j) {
  const auto in = variables(x);
  auto y = f(in);
  for (std::size_t o = 0; o < y.size(); ++o) {
    stan::math::set_zero_all_adjoints();
    y[o].grad();
    for (std::size_t i = 0; i < N; ++i) j[o][i] = in[i].adj();
  }
  stan::math::recover_memory();
}

}  // namespace

void add_stan(bench::suite& suite, const inputs& in) {
  add_gradients(suite, in, "Stan Math", [](const auto& x, auto& g, const auto& f) { gradient(x, g, f); });
  add_jacobians(suite, in, "Stan Math", [](const auto& f, const auto& x, auto& j) { jacobian(f, x, j); });
}

}  // namespace adbench
