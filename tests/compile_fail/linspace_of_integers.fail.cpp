// Integers at equal distances.
// expect: error::needs_floating_values
// expect: linspace<array<float, n>>
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::linspace<drx::array<int, 5>>(x, 1);
  // correct: auto z = drx::linspace<drx::array<float, 5>>(drx::cast<float>(x), 1);
  return drx::sum(z + 1);
};
using F = drx::program<f, int>;
const auto& tape = F::tape();
