// An image of 3 channels and a kernel for 4.
// expect: error::inner_extents_differ
// expect: x \{..., height, width, channels\}
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto w) {
  auto z = drx::conv2d<drx::same>(x, w);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 8, 8, 3>, drx::array<float, 3, 3, 4, 5>>;
// correct: using F = drx::program<f, drx::array<float, 8, 8, 4>, drx::array<float, 3, 3, 4, 5>>;
const auto& tape = F::tape();
