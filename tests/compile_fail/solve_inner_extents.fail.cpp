// Three equations, and right-hand sides of two.
// expect: error::inner_extents_differ
// expect: vector or matrix of as many rows
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::solve(x, y);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3, 3>, drx::array<float, 2>>;
// correct: using F = drx::program<f, drx::array<float, 3, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
