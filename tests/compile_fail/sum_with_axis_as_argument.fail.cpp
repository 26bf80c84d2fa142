// As in NumPy.
// expect: error::axes_and_extents_are_template_arguments
// expect: sum<0>
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::sum(x, 0);
  // correct: auto z = drx::sum<0>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
