// Integers are never NaN.
// expect: error::needs_floating_values
// expect: of float or double arrays
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::cast<float>(drx::isnan(x));
  // correct: auto z = drx::cast<float>(drx::isnan(drx::cast<float>(x)));
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<int, 3>>;
const auto& tape = F::tape();
