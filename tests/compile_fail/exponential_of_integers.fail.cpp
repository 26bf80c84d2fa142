// Integers of an exponential distribution.
// expect: error::needs_floating_values
// expect: float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto k = drx::random_key(x);
  auto z = drx::exponential<int, 3>(k);
  // correct: auto z = drx::exponential<float, 3>(k);
  return drx::sum(z + 1);
};
using F = drx::program<f, int>;
const auto& tape = F::tape();
