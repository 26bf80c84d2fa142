// The gradient of a function that returns three numbers.
// expect: error::grad_needs_a_scalar_result
// expect: reduce with sum or mean
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto g = drx::grad([](auto v) { return v * v; })(x);
  // correct: auto g = drx::grad([](auto v) { return drx::sum(v * v); })(x);
  return x - 0.1 * g;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
