// A logical operation of numbers.
// expect: error::needs_boolean_values
// expect: compare first: \(a > 0\) && \(b > 0\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto both = x && y;
  // correct: auto both = x > 0 && y > 0;
  return drx::where(both, x, y);
};
using F = drx::program<f, drx::array<float, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
