// Positions that are floats.
// expect: error::needs_integer_values
// expect: array of ints
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::take(x, i);
  // correct: auto y = drx::take(x, drx::cast<int>(i));
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, drx::array<float, 3>>;
const auto& tape = F::tape();
