// An optimizer's gradient has the structure of its parameters.
// expect: error::structures_differ
// expect: step\(optimizer, parameters
#include <drx/algorithms.hpp>

using weights = drx::array<float, 3>;
using state = drx::optimizer_state<drx::adam, weights>;
constexpr auto f = [](auto x, auto s, auto g) {
  auto y = drx::step(drx::adam{}, x, s, drx::sum(g), 0.1);
  // correct: auto y = drx::step(drx::adam{}, x, s, g, 0.1);
  return y;
};
using F = drx::program<f, weights, state, weights>;
const auto& tape = F::tape();
