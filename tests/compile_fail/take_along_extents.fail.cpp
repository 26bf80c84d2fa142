// Three indices for two rows.
// expect: error::extents_differ
// expect: of one shape but for the axis
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::take_along<1>(x, i);
  // correct: auto y = drx::take_along<0>(x, i);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, drx::array<int, 3, 4>>;
const auto& tape = F::tape();
