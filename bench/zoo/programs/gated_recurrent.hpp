#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace gated_recurrent {
struct sequences : drx::placement<sequences> {};
using network = std::tuple<drx::array<float, 16, 8>, drx::array<float, 16, 8>, drx::array<float, 16, 8>>;

inline constexpr auto loss_of_one = [](auto net, auto x, auto y) {  // 8 units, which see 8 numbers at each step
  auto [reset, update, fresh] = net;
  auto step = [=](auto h, auto seen) {
    auto both = drx::concatenate(seen, h);
    auto z = drx::sigmoid(drx::matmul(both, update)), r = drx::sigmoid(drx::matmul(both, reset));
    auto next = drx::tanh(drx::matmul(drx::concatenate(seen, r * h), fresh));
    return std::pair{h + z * (next - h), std::tuple{}};
  };
  return drx::square(drx::sum(std::get<0>(drx::scan(step, drx::zeros<drx::array<float, 8>>(), x))) - y);
};
inline constexpr auto loss = [](auto net, auto x, auto y) {
  return drx::reduce_mean(drx::map(loss_of_one, drx::broadcast<sequences>(net), x, y));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<drx::array<float, 32, 8>, sequences>,
                             drx::placed<float, sequences>>;
}  // namespace gated_recurrent
