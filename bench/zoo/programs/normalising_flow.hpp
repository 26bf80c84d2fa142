#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace normalising_flow {
struct examples : drx::placement<examples> {};
using drx::array;
using layers = std::tuple<array<float, 6, 4, 32>, array<float, 6, 32>, array<float, 6, 32, 8>, array<float, 6, 8>>;

inline constexpr auto coupling = [](auto state, auto layer) {  // one half moves and scales the other, and they swap
  auto [here, there, volume] = state;
  auto [w, b, out, c] = layer;
  auto both = drx::matmul(drx::tanh(drx::matmul(here, w) + b), out) + c;
  auto scale = drx::tanh(drx::slice<0, 4>(both));
  auto moved = there * drx::exp(scale) + drx::slice<4, 8>(both);
  return std::pair{std::tuple{moved, here, volume + drx::sum(scale)}, std::tuple{}};
};
inline constexpr auto surprise = [](auto p, auto x) {  // minus the log-density of an example
  auto start = std::tuple{drx::slice<0, 4>(x), drx::slice<4, 8>(x), drx::zeros<drx::scalar<float>>()};
  auto [a, b, volume] = drx::scan(coupling, start, p).first;
  return 0.5f * (drx::sum(drx::square(a)) + drx::sum(drx::square(b))) - volume;
};
inline constexpr auto loss = [](auto p, auto data) {
  return drx::reduce_mean(drx::map(surprise, drx::broadcast<examples>(p), data));
};
using Program = drx::program<drx::value_and_grad(loss), layers, drx::placed<array<float, 8>, examples>>;
}  // namespace normalising_flow
