// float + double.
// expect: error::element_types_differ
// expect: cast<T>\(x\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = x + y;
  // correct: auto z = x + drx::cast<float>(y);
  return drx::sum(2 * z);
};
using F = drx::program<f, drx::array<float, 3>, drx::array<double, 3>>;
const auto& tape = F::tape();
