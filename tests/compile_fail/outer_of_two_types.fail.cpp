// The outer product of float and double.
// expect: error::element_types_differ
// expect: numbers of one element type
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::outer(x, drx::cast<double>(x));
  // correct: auto z = drx::outer(x, x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
