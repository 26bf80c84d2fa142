// What is computed of constants only, and is no part of the result.
// while recording
// expect: something is computed of constants only and never used
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  [[maybe_unused]] auto weights = drx::exp(drx::iota<drx::array<double, 3>>());
  return drx::sum(x);
  // correct: return drx::sum(x * weights);
};
using F = drx::program<f, drx::array<double, 3>>;
const auto& tape = F::tape();
