#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto [y, pullback] = drx::vjp([](auto v) { return drx::sum(v * v); }, x);
  return pullback(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
