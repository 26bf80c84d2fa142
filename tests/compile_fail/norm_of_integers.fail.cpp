// The norm of integers.
// expect: error::needs_floating_values
// expect: array of float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::norm(x);
  // correct: auto z = drx::norm(drx::cast<float>(x));
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<int, 3>>;
const auto& tape = F::tape();
