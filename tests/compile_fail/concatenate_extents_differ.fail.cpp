// Rows of 3 and of 4 under each other.
// expect: error::extents_differ
// expect: extents differ along the axis only
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::concatenate<0>(x, y);
  // correct: auto z = drx::concatenate<1>(x, y);
  return drx::sum(z);
};
using F = drx::program<f, drx::array<float, 2, 3>, drx::array<float, 2, 4>>;
const auto& tape = F::tape();
