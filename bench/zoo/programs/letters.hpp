#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace letters {
struct clients : drx::placement<clients> {};
using drx::array;
using network = std::tuple<array<float, 64, 24>, array<float, 72, 192>, array<float, 192>, array<float, 48, 64>>;
using text = array<std::int32_t, 8, 33>;

inline constexpr auto error = [](auto net, auto seen) {  // a network with long short-term memory of 48 units
  auto [embedding, weights, bias, last] = net;
  using drx::all, drx::range, drx::slice;
  auto step = [=](auto carry, auto letters) {
    auto [h, c] = carry;
    auto x = drx::concatenate<1>(drx::take(embedding, drx::index<0>(letters)), h);
    auto gates = drx::matmul(x, weights) + bias;
    auto in = drx::sigmoid(slice<all, range<0, 48>>(gates)), keep = drx::sigmoid(slice<all, range<48, 96>>(gates) + 1);
    auto fresh = drx::tanh(slice<all, range<96, 144>>(gates)), out = drx::sigmoid(slice<all, range<144, 192>>(gates));
    auto memory = keep * c + in * fresh;
    auto next = out * drx::tanh(memory);
    auto lost = drx::mean(drx::softmax_cross_entropy(drx::matmul(next, last), drx::index<1>(letters)));
    return std::pair{std::pair{next, memory}, lost};
  };
  auto pairs =
      drx::stack<1>(drx::transpose(slice<all, range<0, 32>>(seen)), drx::transpose(slice<all, range<1, 33>>(seen)));
  auto zero = drx::zeros<array<float, 8, 48>>();
  return drx::mean(std::get<1>(drx::scan(step, std::pair{zero, zero}, pairs)));
};
inline constexpr auto loss = [](auto net, auto texts) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<clients>(net), texts));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<text, clients>>;
}  // namespace letters
