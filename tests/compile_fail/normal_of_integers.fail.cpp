// Normal numbers of an integer type.
// expect: error::needs_floating_values
// expect: float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::normal<int, 3>(x);
  // correct: auto y = drx::normal<double, 3>(x);
  return drx::sum(y * 2);
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
