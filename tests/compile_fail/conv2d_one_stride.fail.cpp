// One stride for two spatial axes.
// expect: error::options_do_not_fit_the_spatial_axes
// expect: two numbers per option
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto w) {
  auto z = drx::conv2d<drx::strides<2>>(x, w);
  // correct: auto z = drx::conv2d<drx::strides<2, 2>>(x, w);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 8, 8, 3>, drx::array<float, 3, 3, 3, 5>>;
const auto& tape = F::tape();
