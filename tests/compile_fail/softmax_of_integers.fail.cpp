// Integers have no softmax.
// expect: error::needs_floating_values
// expect: softmax<axis>\(floating array\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::softmax(x) * i;
  // correct: auto y = drx::softmax(drx::cast<float>(x)) * i;
  return drx::sum(y);
};
using F = drx::program<f, drx::array<int, 4>, float>;
const auto& tape = F::tape();
