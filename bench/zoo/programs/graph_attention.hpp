#pragma once
#include <drx/drx.hpp>

#include <cstdint>
#include <tuple>

namespace graph_attention {
struct graphs : drx::placement<graphs> {};
using drx::array;
using edges = array<std::int32_t, 192>;
// A layer's weights, and those of the scores by both ends, for four heads; the weights of the result.
using network = std::tuple<array<float, 16, 32>, array<float, 4, 8>, array<float, 4, 8>, array<float, 32>>;

inline constexpr auto predict = [](auto net, auto nodes, auto from, auto to) {  // by Velickovic et al.
  auto [w, by_from, by_to, out] = net;
  auto h = drx::reshape<48, 4, 8>(drx::matmul(nodes, w));
  auto scores = drx::take(drx::sum<2>(h * by_from), from) + drx::take(drx::sum<2>(h * by_to), to);
  auto weights = drx::exp(drx::where(scores > 0, scores, 0.2f * scores));
  auto total = drx::scatter_add(drx::full<array<float, 48, 4>>(1e-6f), to, weights);
  auto sent = drx::take(h, from) * drx::expand_dims<2>(weights / drx::take(total, to));
  auto received = drx::scatter_add(drx::zeros<array<float, 48, 4, 8>>(), to, sent);
  return drx::dot(drx::mean<0>(drx::tanh(drx::reshape<48, 32>(received))), out);
};
inline constexpr auto loss = [](auto net, auto nodes, auto from, auto to, auto y) {
  auto error = [](auto n, auto x, auto f, auto t, auto label) { return drx::square(predict(n, x, f, t) - label); };
  return drx::reduce_mean(drx::map(error, drx::broadcast<graphs>(net), nodes, from, to, y));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<array<float, 48, 16>, graphs>,
                             drx::placed<edges, graphs>, drx::placed<edges, graphs>, drx::placed<float, graphs>>;
}  // namespace graph_attention
