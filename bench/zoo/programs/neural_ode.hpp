#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace neural_ode {
struct runs : drx::placement<runs> {};
using network = std::tuple<drx::array<float, 2, 16>, drx::array<float, 16>, drx::array<float, 16, 2>>;
using plane = drx::array<float, 2>;

inline constexpr auto error = [](auto net, auto start, auto seen) {  // seen: the state after each of 20 steps
  auto [w, b, out] = net;
  auto field = [=](auto x) { return drx::matmul(drx::tanh(drx::matmul(x, w) + b), out); };
  auto step = [=](auto x, auto there) {  // of Runge and Kutta
    constexpr float h = 0.1f;
    auto k1 = field(x);
    auto k2 = field(x + h / 2 * k1);
    auto k3 = field(x + h / 2 * k2);
    auto k4 = field(x + h * k3);
    auto next = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    return std::pair{next, drx::sum(drx::square(next - there))};
  };
  return drx::sum(std::get<1>(drx::scan(step, start, seen)));
};
inline constexpr auto loss = [](auto net, auto start, auto seen) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<runs>(net), start, seen));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<plane, runs>,
                             drx::placed<drx::array<float, 20, 2>, runs>>;
}  // namespace neural_ode
