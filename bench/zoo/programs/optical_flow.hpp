#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace optical_flow {
struct pairs : drx::placement<pairs> {};
using image = drx::array<float, 48, 48>;

inline constexpr auto around = [](auto u) {  // the mean of the eight neighbours, nearer ones twice
  auto beside = drx::roll<1, 0>(u) + drx::roll<-1, 0>(u) + drx::roll<1, 1>(u) + drx::roll<-1, 1>(u);
  auto across = drx::roll<1, 0>(drx::roll<1, 1>(u) + drx::roll<-1, 1>(u)) +
                drx::roll<-1, 0>(drx::roll<1, 1>(u) + drx::roll<-1, 1>(u));
  return beside * (1 / 6.f) + across * (1 / 12.f);
};
inline constexpr auto flow = [](auto stiffness, auto first, auto second) {  // by Horn and Schunck, 30 sweeps
  auto mean = 0.5f * (first + second);
  auto x = 0.5f * (drx::roll<-1, 1>(mean) - drx::roll<1, 1>(mean));
  auto y = 0.5f * (drx::roll<-1, 0>(mean) - drx::roll<1, 0>(mean));
  auto weight = 1 / (stiffness + drx::square(x) + drx::square(y));
  return drx::fori_loop<30>(std::pair{drx::zeros<image>(), drx::zeros<image>()}, [=](auto carry) {
    auto u = around(carry.first), v = around(carry.second);
    auto off = weight * (x * u + y * v + second - first);
    return std::pair{u - x * off, v - y * off};
  });
};
inline constexpr auto error = [](auto stiffness, auto first, auto second) {  // of the true flow: half a pixel each way
  auto [u, v] = flow(drx::exp(stiffness), first, second);
  return drx::mean(drx::sqrt(drx::square(u - 0.5f) + drx::square(v - 0.5f) + 1e-4f));
};
inline constexpr auto loss = [](auto stiffness, auto firsts, auto seconds) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<pairs>(stiffness), firsts, seconds));
};
using Program = drx::program<drx::value_and_grad(loss), float, drx::placed<image, pairs>, drx::placed<image, pairs>>;
}  // namespace optical_flow
