// The largest along a third axis.
// expect: error::axis_out_of_range
// expect: argmax<axis>\(array of numbers
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::argmax<2>(x);
  // correct: auto y = drx::argmax<1>(x);
  return drx::max(y);
};
using F = drx::program<f, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
