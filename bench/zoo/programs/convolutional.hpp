#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace convolutional {
struct clients : drx::placement<clients> {};
using network = std::tuple<drx::array<float, 3, 3, 1, 8>, drx::array<float, 3, 3, 8, 16>, drx::array<float, 784, 10>>;
using images = drx::array<float, 8, 28, 28, 1>;

inline constexpr auto loss_of_client = [](auto net, auto x, auto labels) {
  auto [first, second, out] = net;
  auto h = drx::max_pool<drx::window<2, 2>>(drx::relu(drx::conv2d<drx::same>(x, first)));
  auto g = drx::max_pool<drx::window<2, 2>>(drx::relu(drx::conv2d<drx::same>(h, second)));
  auto logits = drx::matmul(drx::reshape<8, 784>(g), out);
  return drx::mean(drx::softmax_cross_entropy(logits, labels));
};
inline constexpr auto loss = [](auto net, auto x, auto labels) {
  return drx::reduce_mean(drx::map(loss_of_client, drx::broadcast<clients>(net), x, labels));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<images, clients>,
                             drx::placed<drx::array<std::int32_t, 8>, clients>>;
}  // namespace convolutional
