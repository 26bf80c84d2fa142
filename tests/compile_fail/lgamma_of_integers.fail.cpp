// A special function of integers.
// expect: error::needs_floating_values
// expect: cast<float>\(x\) first
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::lgamma(x);
  // correct: auto z = drx::lgamma(drx::cast<float>(x));
  return drx::sum(z * 2);
};
using F = drx::program<f, drx::array<int, 3>>;
const auto& tape = F::tape();
