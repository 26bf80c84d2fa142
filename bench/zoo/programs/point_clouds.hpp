#pragma once
#include <drx/drx.hpp>

#include <cstdint>
#include <tuple>

namespace point_clouds {
struct clouds : drx::placement<clouds> {};
using drx::array;
// Two layers for each point, and one for the largest of each number over the points.
using network = std::tuple<array<float, 3, 32>, array<float, 32>, array<float, 32, 64>, array<float, 64>,
                           array<float, 64, 10>, array<float, 10>>;

inline constexpr auto loss_of = [](auto net, auto points, auto label) {
  auto [w1, b1, w2, b2, w3, b3] = net;
  auto h = drx::relu(drx::matmul(points, w1) + b1);
  auto seen = drx::max<0>(drx::relu(drx::matmul(h, w2) + b2));
  return drx::softmax_cross_entropy(drx::matmul(seen, w3) + b3, label);
};
inline constexpr auto loss = [](auto net, auto points, auto labels) {
  return drx::reduce_mean(drx::map(loss_of, drx::broadcast<clouds>(net), points, labels));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<array<float, 128, 3>, clouds>,
                             drx::placed<std::int32_t, clouds>>;
}  // namespace point_clouds
