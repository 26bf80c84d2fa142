#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace meta_learning {
struct tasks : drx::placement<tasks> {};
using network = std::tuple<drx::array<float, 1, 32>, drx::array<float, 32>, drx::array<float, 32, 1>>;
using rows = std::pair<drx::array<float, 16, 1>, drx::array<float, 16, 1>>;

inline constexpr auto error = [](auto net, auto data) {
  auto [w, b, out] = net;
  auto [x, y] = data;
  return drx::mean(drx::square(drx::matmul(drx::tanh(drx::matmul(x, w) + b), out) - y));
};
inline constexpr auto after_steps = [](auto net, auto known, auto other) {  // two steps on known rows, then the others
  auto own = drx::fori_loop<2>(net, [=](auto n) { return n - 0.1f * drx::grad(error)(n, known); });
  return error(own, other);
};
inline constexpr auto loss = [](auto net, auto known, auto other) {
  return drx::reduce_mean(drx::map(after_steps, drx::broadcast<tasks>(net), known, other));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<rows, tasks>, drx::placed<rows, tasks>>;
}  // namespace meta_learning
