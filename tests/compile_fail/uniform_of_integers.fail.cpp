// Uniform numbers of an integer type.
// expect: error::needs_floating_values
// expect: float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::uniform<int, 3>(x, 0, 9);
  // correct: auto y = drx::uniform<float, 3>(x, 0, 9);
  return drx::sum(y * 2);
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
