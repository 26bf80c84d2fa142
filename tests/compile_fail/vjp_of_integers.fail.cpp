// Reverse mode in an integer.
// expect: error::grad_needs_floating_arguments
// expect: must be float or double throughout: capture the others
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto n) {
  auto [y, pullback] = drx::vjp([](auto v, auto k) { return drx::cast<float>(k) * v; }, x, n);
  // correct: auto [y, pullback] = drx::vjp([=](auto v) { return drx::cast<float>(n) * v; }, x);
  return pullback(y);
};
using F = drx::program<f, drx::array<float, 3>, int>;
const auto& tape = F::tape();
