// Which numbers, float or double?
// expect: error::numbers_alone_have_no_element_type
// expect: of two plain numbers one is to be an array
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::where(x > 0, 1.0, 0.0);
  // correct: auto z = drx::where(x > 0, drx::ones<drx::scalar<float>>(), 0.0);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
