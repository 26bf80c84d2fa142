#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace residual_network {
struct clients : drx::placement<clients> {};
using vectors = drx::array<float, 4, 64>;  // one for each block
using matrices = drx::array<float, 4, 64, 64>;
using blocks = std::tuple<vectors, vectors, matrices, vectors, matrices, vectors>;
using network = std::pair<blocks, drx::array<float, 64, 10>>;

inline constexpr auto normalised = [](auto x, auto scale, auto shift) {
  auto centred = x - drx::mean<1>(x, drx::keepdims);
  return scale * centred * drx::rsqrt(drx::mean<1>(drx::square(centred), drx::keepdims) + 1e-5f) + shift;
};
inline constexpr auto loss_of_client = [](auto net, auto x, auto labels) {
  auto [all, out] = net;
  auto block = [](auto h, auto weights) {
    auto [scale, shift, w1, b1, w2, b2] = weights;
    auto inner = drx::gelu(drx::matmul(normalised(h, scale, shift), w1) + b1);
    return std::pair{h + drx::matmul(inner, w2) + b2, std::tuple{}};
  };
  auto h = drx::scan(block, x, all).first;
  return drx::mean(drx::softmax_cross_entropy(drx::matmul(h, out), labels));
};
inline constexpr auto loss = [](auto net, auto x, auto labels) {
  return drx::reduce_mean(drx::map(loss_of_client, drx::broadcast<clients>(net), x, labels));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<drx::array<float, 32, 64>, clients>,
                             drx::placed<drx::array<std::int32_t, 32>, clients>>;
}  // namespace residual_network
