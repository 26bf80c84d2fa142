#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace physics_informed {
struct places : drx::placement<places> {};
using network = std::tuple<drx::array<float, 2, 32>, drx::array<float, 32>, drx::array<float, 32, 32>,
                           drx::array<float, 32>, drx::array<float, 32>>;

inline constexpr auto potential = [](auto net, auto x) {
  auto [w1, b1, w2, b2, w3] = net;
  return drx::dot(drx::tanh(drx::matmul(drx::tanh(drx::matmul(x, w1) + b1), w2) + b2), w3);
};
inline constexpr auto residual = [](auto net, auto x) {  // of Poisson's equation: the Laplacian and the source
  auto curvature = drx::hessian([=](auto y) { return potential(net, y); })(x);
  auto source = drx::sin(3 * drx::index<0>(x)) * drx::sin(3 * drx::index<1>(x));
  return drx::square(drx::sum(drx::diagonal(curvature)) - source);
};
inline constexpr auto loss = [](auto net, auto data) {
  return drx::reduce_mean(drx::map(residual, drx::broadcast<places>(net), data));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<drx::array<float, 2>, places>>;
}  // namespace physics_informed
