// The angle of two element types.
// expect: error::element_types_differ
// expect: two floating arrays
#include <drx/drx.hpp>

constexpr auto f = [](auto y, auto x) {
  auto z = drx::atan2(y, x);
  // correct: auto z = drx::atan2(drx::cast<double>(y), x);
  return drx::sum(z * 2);
};
using F = drx::program<f, drx::array<float, 3>, drx::array<double, 3>>;
const auto& tape = F::tape();
