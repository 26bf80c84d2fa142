// Integers have no quotients.
// expect: error::needs_floating_values
// expect: of square matrices of float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::determinant(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<int, 3, 3>>;
// correct: using F = drx::program<f, drx::array<float, 3, 3>>;
const auto& tape = F::tape();
