// A condition of numbers.
// expect: error::needs_boolean_values
// expect: where\(array of bool, a, b\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::where(x, x, y);
  // correct: auto z = drx::where(x > 0, x, y);
  return drx::sum(z);
};
using F = drx::program<f, drx::array<float, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
