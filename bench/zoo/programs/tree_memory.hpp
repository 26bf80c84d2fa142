#pragma once
#include <drx/drx.hpp>

#include <cstdint>
#include <tuple>

namespace tree_memory {
struct sentences : drx::placement<sentences> {};
using words = drx::array<std::int32_t, 12>;
using children = drx::array<std::int32_t, 11, 2>;  // of each inner node: words, or inner nodes before it
// Embeddings; weights and biases of the five gates; the classifier.
using network =
    std::tuple<drx::array<float, 200, 16>, drx::array<float, 32, 80>, drx::array<float, 80>, drx::array<float, 16, 5>>;

inline constexpr auto loss_of = [](auto net, auto own, auto tree, auto label) {  // Tree-LSTM by Tai et al.
  auto [embeddings, w, b, out] = net;
  auto leaves = drx::pad<drx::padding<0, 11>, drx::padding<0, 16>>(drx::tanh(drx::take(embeddings, own)));
  auto merge = [=](auto i, auto nodes) {  // a row has a node's output and its memory
    auto both = drx::take(nodes, drx::index(tree, i));
    auto below = drx::reshape<32>(drx::slice<drx::all, drx::range<0, 16>>(both));
    auto memories = drx::slice<drx::all, drx::range<16, 32>>(both);
    auto gates = drx::matmul(below, w) + b;
    auto open = drx::sigmoid(drx::slice<0, 64>(gates));  // input, output, one to forget for each child
    auto kept = drx::sum<0>(drx::reshape<2, 16>(drx::slice<32, 64>(open)) * memories);
    auto memory = drx::slice<0, 16>(open) * drx::tanh(drx::slice<64, 80>(gates)) + kept;
    auto output = drx::slice<16, 32>(open) * drx::tanh(memory);
    return drx::update_slice(nodes, drx::expand_dims<0>(drx::concatenate(output, memory)), i + 12);
  };
  auto root = drx::index<22>(drx::fori_loop<11>(leaves, merge));
  return drx::softmax_cross_entropy(drx::matmul(drx::slice<0, 16>(root), out), label);
};
inline constexpr auto loss = [](auto net, auto own, auto trees, auto labels) {
  return drx::reduce_mean(drx::map(loss_of, drx::broadcast<sentences>(net), own, trees, labels));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<words, sentences>,
                             drx::placed<children, sentences>, drx::placed<std::int32_t, sentences>>;
}  // namespace tree_memory
