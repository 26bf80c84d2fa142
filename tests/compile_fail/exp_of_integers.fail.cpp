// The exponential of integers.
// expect: error::needs_floating_values
// expect: cast<float>\(x\) first
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::exp(x);
  // correct: auto y = drx::exp(drx::cast<float>(x));
  return drx::sum(y * 2);
};
using F = drx::program<f, drx::array<int, 3>>;
const auto& tape = F::tape();
