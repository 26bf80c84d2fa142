// A probability that is an integer.
// expect: error::needs_floating_values
// expect: p of float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::bernoulli<3>(x, 1);
  // correct: auto y = drx::bernoulli<3>(x, 0.5);
  return drx::cast<int>(y) * 2;
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
