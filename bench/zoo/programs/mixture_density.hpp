#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace mixture_density {
struct examples : drx::placement<examples> {};
using network =
    std::tuple<drx::array<float, 4, 32>, drx::array<float, 32>, drx::array<float, 32, 15>, drx::array<float, 15>>;

inline constexpr auto surprise = [](auto net, auto x, auto y) {  // of y under a mixture of five normals
  auto [w1, b1, w2, b2] = net;
  auto out = drx::matmul(drx::tanh(drx::matmul(x, w1) + b1), w2) + b2;
  auto means = drx::slice<0, 5>(out), log_scales = drx::slice<5, 10>(out), weights = drx::slice<10, 15>(out);
  auto z = (y - means) * drx::exp(-log_scales);
  return -drx::logsumexp(drx::log_softmax(weights) - 0.5f * drx::square(z) - log_scales);
};
inline constexpr auto loss = [](auto net, auto x, auto y) {
  return drx::reduce_mean(drx::map(surprise, drx::broadcast<examples>(net), x, y));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<drx::array<float, 4>, examples>,
                             drx::placed<float, examples>>;
}  // namespace mixture_density
