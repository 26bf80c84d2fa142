// Elements along axis 1 of a vector.
// expect: error::axis_out_of_range
// expect: repeat<times, axis>
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::repeat<2, 1>(x);
  // correct: auto z = drx::repeat<2, 0>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
