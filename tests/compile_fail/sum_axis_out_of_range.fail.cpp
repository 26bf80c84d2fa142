// The third axis of a matrix.
// expect: error::axis_out_of_range
// expect: sum<axes...>\(array of numbers\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::sum<2>(x);
  // correct: auto y = drx::sum<1>(x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
