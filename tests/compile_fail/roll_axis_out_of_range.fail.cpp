// The third axis of a matrix.
// expect: error::axis_out_of_range
// expect: the axis below its rank
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::roll<3, 2>(x) + i;
  // correct: auto y = drx::roll<3, 1>(x) + i;
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, float>;
const auto& tape = F::tape();
