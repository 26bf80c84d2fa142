#pragma once
#include <drx/drx.hpp>

namespace soft_kmeans {
struct points : drx::placement<points> {};
using centres = drx::array<float, 32, 16>;

inline constexpr auto distortion = [](auto c, auto heat, auto x) {  // of a point: to the centres, by their weights
  auto squares = drx::sum<1>(drx::square(c - x));
  return drx::dot(drx::softmax(-squares / heat), squares);
};
inline constexpr auto loss = [](auto heat, auto c, auto data) {
  return drx::reduce_mean(drx::map(distortion, drx::broadcast<points>(c), drx::broadcast<points>(heat), data));
};
using Program = drx::program<drx::value_and_grad(loss), float, centres, drx::placed<drx::array<float, 16>, points>>;
}  // namespace soft_kmeans
