// An axis of extent 3 is to be left out.
// expect: error::axis_has_more_than_one_element
// expect: axes of extent 1
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::squeeze<1>(x);
  // correct: auto z = drx::squeeze<0>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 1, 3>>;
const auto& tape = F::tape();
