// The sum over axis 2 of a matrix.
// expect: error::axis_out_of_range
// expect: sum<axes...>\(array of numbers, keepdims\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::sum<2>(x, drx::keepdims);
  // correct: auto z = drx::sum<1>(x, drx::keepdims);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 2, 3>>;
const auto& tape = F::tape();
