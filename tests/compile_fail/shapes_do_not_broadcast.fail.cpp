// A sum of 3 and 4 elements.
// expect: error::shapes_do_not_broadcast
// expect: reshape or broadcast_to
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = x * y;
  // correct: auto z = x * drx::sum(y);
  return drx::sum(z);
};
using F = drx::program<f, drx::array<float, 3>, drx::array<float, 4>>;
const auto& tape = F::tape();
