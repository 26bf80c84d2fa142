// As in NumPy.
// expect: error::axes_and_extents_are_template_arguments
// expect: reshape<3, 4>
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::reshape(x, 3, 1);
  // correct: auto z = drx::reshape<3, 1>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
