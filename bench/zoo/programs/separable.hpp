#pragma once
#include <drx/drx.hpp>

#include <cstdint>
#include <tuple>
#include <utility>

namespace separable {
struct pictures : drx::placement<pictures> {};
using picture = drx::array<float, 16, 16, 8>;
// Two layers: a kernel for each channel, then a mixture of the channels; and the classifier.
using network = std::tuple<drx::array<float, 3, 3, 8>, drx::array<float, 8, 24>, drx::array<float, 3, 3, 24>,
                           drx::array<float, 24, 32>, drx::array<float, 32, 10>>;

inline constexpr auto depthwise = [](auto x, auto kernel) {  // the same size, zeros around
  constexpr auto size = decltype(x)::shape;
  auto wide = drx::pad<drx::padding<1>, drx::padding<1>>(x);
  auto part = [=]<int i, int j>(std::integer_sequence<int, i, j>) {
    return drx::slice<drx::range<i, i + size[0]>, drx::range<j, j + size[1]>>(wide) * drx::index<i, j>(kernel);
  };
  auto row = [=]<int i>(std::integer_sequence<int, i>) {
    return part(std::integer_sequence<int, i, 0>()) + part(std::integer_sequence<int, i, 1>()) +
           part(std::integer_sequence<int, i, 2>());
  };
  return row(std::integer_sequence<int, 0>()) + row(std::integer_sequence<int, 1>()) +
         row(std::integer_sequence<int, 2>());
};
inline constexpr auto loss_of = [](auto net, auto x, auto label) {
  auto [first, mix, second, mix_again, out] = net;
  auto h = drx::relu(drx::matmul(depthwise(x, first), mix));
  auto half = drx::avg_pool<drx::window<2, 2>>(h);
  auto g = drx::relu(drx::matmul(depthwise(half, second), mix_again));
  return drx::softmax_cross_entropy(drx::matmul(drx::mean<0, 1>(g), out), label);
};
inline constexpr auto loss = [](auto net, auto x, auto labels) {
  return drx::reduce_mean(drx::map(loss_of, drx::broadcast<pictures>(net), x, labels));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<picture, pictures>,
                             drx::placed<std::int32_t, pictures>>;
}  // namespace separable
