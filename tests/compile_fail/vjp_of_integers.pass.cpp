#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto n) {
  auto [y, pullback] = drx::vjp([=](auto v) { return drx::cast<float>(n) * v; }, x);
  return pullback(y);
};
using F = drx::program<f, drx::array<float, 3>, int>;
const auto& tape = F::tape();
