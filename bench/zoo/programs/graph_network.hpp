#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace graph_network {
struct graphs : drx::placement<graphs> {};
using network = std::tuple<drx::array<float, 16, 16>, drx::array<float, 16, 16>, drx::array<float, 16>>;
using edges = drx::array<std::int32_t, 96>;

inline constexpr auto predict = [](auto net, auto nodes, auto from, auto to) {
  auto [message, own, out] = net;
  auto h = drx::fori_loop<3>(nodes, [=](auto x) {  // messages along 96 edges, between 32 nodes
    auto sent = drx::relu(drx::matmul(drx::take(x, from), message));
    auto received = drx::scatter_add(drx::zeros<drx::array<float, 32, 16>>(), to, sent);
    return drx::tanh(drx::matmul(x, own) + received);
  });
  return drx::dot(drx::mean<0>(h), out);
};
inline constexpr auto loss = [](auto net, auto nodes, auto from, auto to, auto y) {
  auto error = [](auto n, auto x, auto f, auto t, auto label) { return drx::square(predict(n, x, f, t) - label); };
  return drx::reduce_mean(drx::map(error, drx::broadcast<graphs>(net), nodes, from, to, y));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<drx::array<float, 32, 16>, graphs>,
                             drx::placed<edges, graphs>, drx::placed<edges, graphs>, drx::placed<float, graphs>>;
}  // namespace graph_network
