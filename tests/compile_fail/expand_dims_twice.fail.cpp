// One new axis twice.
// expect: error::axis_out_of_range
// expect: different axes of the result
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::expand_dims<0, 0>(x);
  // correct: auto z = drx::expand_dims<0, 1>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
