#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace echo_state {
struct series : drx::placement<series> {};
using signal = drx::array<double, 100>;
using weights = std::pair<drx::array<double, 24, 24>, drx::array<double, 24>>;  // drawn once and kept: units, inputs
using hyper = std::tuple<double, double, double, double>;  // logarithms: scales of both, ridge; and the leak's logit

inline constexpr auto error = [](auto h, auto fixed, auto x) {  // of the last 30 of the next values
  auto [recurrent, input, ridge, leak] = h;
  auto [w, v] = fixed;
  auto scaled = w * drx::exp(recurrent), inputs = v * drx::exp(input);
  auto slow = drx::sigmoid(leak);
  auto run = [=](auto state, auto now) {
    auto next = (1 - slow) * state + slow * drx::tanh(drx::matmul(scaled, state) + inputs * now);
    return std::pair{next, next};
  };
  auto states = std::get<1>(drx::scan(run, drx::zeros<drx::array<double, 24>>(), drx::slice<0, 99>(x)));
  auto fit = drx::slice<10, 69>(states), test = drx::slice<69, 99>(states);
  auto normal = drx::matmul(drx::transpose(fit), fit) + drx::exp(ridge) * drx::identity<drx::array<double, 24, 24>>();
  auto readout = drx::solve(normal, drx::matmul(drx::transpose(fit), drx::slice<11, 70>(x)));
  return drx::mean(drx::square(drx::matmul(test, readout) - drx::slice<70, 100>(x)));
};
inline constexpr auto loss = [](auto h, auto fixed, auto x) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<series>(h), drx::broadcast<series>(fixed), x));
};
using Program = drx::program<drx::value_and_grad(loss), hyper, weights, drx::placed<signal, series>>;
}  // namespace echo_state
