#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace selective_scan {
struct sequences : drx::placement<sequences> {};
using drx::array;
using channels = array<float, 32>;
// Rates and weights of the steps; what each step writes and reads; what passes by.
using layer = std::tuple<array<float, 32, 8>, channels, channels, array<float, 32, 8>, array<float, 32, 8>, channels>;

inline constexpr auto outputs = [](auto net, auto x) {  // a state space with steps of its own, by Gu and Dao
  auto [rates, weight, bias, write, read, skip] = net;
  auto decay = -drx::exp(rates);
  auto step = [=](auto h, auto seen) {
    auto dt = drx::softplus(weight * seen + bias);
    auto in = drx::matmul(seen, write), out = drx::matmul(seen, read);
    auto next = drx::exp(drx::expand_dims<1>(dt) * decay) * h + drx::outer(dt * seen, in);
    return std::pair{next, drx::matmul(next, out) + skip * seen};
  };
  return drx::scan(step, drx::zeros<array<float, 32, 8>>(), x).second;
};
inline constexpr auto loss = [](auto net, auto x, auto y) {
  auto error = [](auto n, auto a, auto b) { return drx::mean(drx::square(outputs(n, a) - b)); };
  return drx::reduce_mean(drx::map(error, drx::broadcast<sequences>(net), x, y));
};
using Program = drx::program<drx::value_and_grad(loss), layer, drx::placed<array<float, 128, 32>, sequences>,
                             drx::placed<array<float, 128, 32>, sequences>>;
}  // namespace selective_scan
