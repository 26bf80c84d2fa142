// Stan Math: var on the scalar code, a sweep for each output. The tape's memory is kept from call to call.
#include <stan/math/rev/core.hpp>
#include <stan/math/rev/scal.hpp>

#include "inputs.hpp"

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
template <bool Complicated>
void hands(bench::suite& suite, const char* row, const inputs::track<Complicated>& f, const inputs& in) {
  using track = inputs::track<Complicated>;
  typename track::input x;
  std::copy_n(in.angles.begin(), x.size(), x.begin());
  add<typename track::jacobian>(suite, row, "Stan Math", [&f, x](auto& j) { jacobian(f, x, j); });
}

}  // namespace

void add_stan(bench::suite& suite, const inputs& in) {
  add<inputs::mixture::vector>(suite, mixture_row, "Stan Math", [&](auto& g) {
    gradient(in.theta, g, [&](const auto& t) { return in.of_points.value(t, in.points); });
  });
  add<inputs::recurrent::vector>(suite, lstm_row, "Stan Math", [&](auto& g) { gradient(in.weights, g, in.text); });
  add<jacobians>(suite, bundle_row, "Stan Math", [&](auto& j) {
    for (std::size_t i = 0; i < j.size(); ++i) jacobian(in.view, in.observations[i], j[i]);
  });
  hands(suite, simple_row, in.simple, in);
  hands(suite, complicated_row, in.complicated, in);
}

}  // namespace adbench
