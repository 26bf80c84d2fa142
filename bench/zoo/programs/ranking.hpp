#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace ranking {
struct queries : drx::placement<queries> {};
using network = std::tuple<drx::array<float, 16, 24>, drx::array<float, 24>, drx::array<float, 24>>;
using documents = std::pair<drx::array<float, 32, 16>, drx::array<float, 32>>;  // and how relevant each is

inline constexpr auto disorder = [](auto net, auto found) {  // of all pairs of which one should come first
  auto [w, b, out] = net;
  auto [x, relevant] = found;
  auto score = drx::matmul(drx::relu(drx::matmul(x, w) + b), out);
  auto ahead = drx::expand_dims<1>(score) - drx::expand_dims<0>(score);
  auto should = drx::expand_dims<1>(relevant) > drx::expand_dims<0>(relevant);
  return drx::sum(drx::where(should, drx::softplus(-ahead), 0));
};
inline constexpr auto loss = [](auto net, auto found) {
  return drx::reduce_mean(drx::map(disorder, drx::broadcast<queries>(net), found));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<documents, queries>>;
}  // namespace ranking
