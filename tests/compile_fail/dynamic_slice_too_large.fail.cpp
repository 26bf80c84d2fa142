// Three rows of two.
// expect: error::slice_out_of_range
// expect: none larger than the axis
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::dynamic_slice<3>(x, i);
  // correct: auto y = drx::dynamic_slice<1>(x, i);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, int>;
const auto& tape = F::tape();
