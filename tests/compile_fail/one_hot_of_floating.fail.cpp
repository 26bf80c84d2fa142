// Classes numbered by float.
// expect: error::needs_integer_values
// expect: cast<int>\(x\) first
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::one_hot<float, 10>(x);
  // correct: auto y = drx::one_hot<float, 10>(drx::cast<int>(x));
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
