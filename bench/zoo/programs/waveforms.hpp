#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace waveforms {
struct clips : drx::placement<clips> {};
using network = std::tuple<drx::array<float, 9, 1, 8>, drx::array<float, 5, 8, 16>, drx::array<float, 16, 10>>;

inline constexpr auto wrong = [](auto net, auto clip, auto label) {  // clip: 1024 samples of sound
  auto [first, second, out] = net;
  auto x = drx::reshape<1, 1024, 1>(clip);
  auto h = drx::relu(drx::conv1d<drx::strides<4>>(x, first));
  auto features = drx::mean<0, 1>(drx::relu(drx::conv1d<drx::strides<2>>(h, second)));
  return drx::softmax_cross_entropy(drx::matmul(features, out), label);
};
inline constexpr auto loss = [](auto net, auto sounds, auto labels) {
  return drx::reduce_mean(drx::map(wrong, drx::broadcast<clips>(net), sounds, labels));
};
using Program = drx::program<drx::value_and_grad<0>(loss), network, drx::placed<drx::array<float, 1024>, clips>,
                             drx::placed<std::int32_t, clips>>;
}  // namespace waveforms
