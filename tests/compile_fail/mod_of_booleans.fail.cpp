// The remainder of truth values.
// expect: error::needs_numbers
// expect: of numbers of one element type
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::mod(x > 0, x > 1);
  // correct: auto z = drx::mod(x, 2);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
