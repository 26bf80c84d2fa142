#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace radiance {
struct rays : drx::placement<rays> {};
using drx::array;
using vec3 = array<float, 3>;
// From 24 waves of a place to its colour and its density.
using network = std::tuple<array<float, 24, 48>, array<float, 48>, array<float, 48, 48>, array<float, 48>,
                           array<float, 48, 4>, array<float, 4>>;

inline constexpr auto error = [](auto net, auto from, auto along, auto seen) {  // of a ray's colour by 32 places
  auto [w1, b1, w2, b2, w3, b3] = net;
  auto places = from + drx::outer(drx::linspace<array<float, 32>>(0.5f, 3.5f), along);
  auto waves = drx::concatenate<1>(places, 2 * places, 4 * places, 8 * places);
  auto x = drx::concatenate<1>(drx::sin(waves), drx::cos(waves));
  auto h = drx::relu(drx::matmul(drx::relu(drx::matmul(x, w1) + b1), w2) + b2);
  auto out = drx::matmul(h, w3) + b3;
  auto dims = 0.1f * drx::softplus(drx::index<3>(drx::transpose(out)));
  auto reaches = drx::exp(dims - drx::cumsum(dims));  // what comes through in front of each place
  auto colour = drx::matmul(reaches * (1 - drx::exp(-dims)), drx::sigmoid(drx::slice<drx::all, drx::range<0, 3>>(out)));
  return drx::sum(drx::square(colour - seen));
};
inline constexpr auto loss = [](auto net, auto from, auto along, auto seen) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rays>(net), from, along, seen));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<vec3, rays>, drx::placed<vec3, rays>,
                             drx::placed<vec3, rays>>;
}  // namespace radiance
