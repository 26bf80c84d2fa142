// A mean of integers.
// expect: error::needs_floating_values
// expect: of float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::avg_pool<drx::window<2>>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<int, 4, 3>>;
// correct: using F = drx::program<f, drx::array<float, 4, 3>>;
const auto& tape = F::tape();
