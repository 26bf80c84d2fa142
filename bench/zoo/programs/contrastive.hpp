#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace contrastive {
struct clients : drx::placement<clients> {};
using drx::array;
using network = std::pair<array<float, 48, 96>, array<float, 96, 32>>;
using views = array<float, 64, 48>;

inline constexpr auto embedded = [](auto net, auto x) {
  auto y = drx::matmul(drx::relu(drx::matmul(x, net.first)), net.second);
  return y * drx::rsqrt(drx::sum<1>(drx::square(y), drx::keepdims) + 1e-6f);
};
inline constexpr auto confusion = [](auto net, auto x, auto y) {  // each view is to find its other among all
  auto logits = 5 * drx::matmul(embedded(net, x), drx::transpose(embedded(net, y)));
  auto ways = drx::logsumexp<1>(logits) + drx::logsumexp<0>(logits) - 2 * drx::diagonal(logits);
  return drx::mean(ways) / 2;
};
inline constexpr auto loss = [](auto net, auto x, auto y) {
  return drx::reduce_mean(drx::map(confusion, drx::broadcast<clients>(net), x, y));
};
using Program =
    drx::program<drx::value_and_grad(loss), network, drx::placed<views, clients>, drx::placed<views, clients>>;
}  // namespace contrastive
