// The remainder of float and double.
// expect: error::element_types_differ
// expect: of numbers of one element type
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = x % drx::cast<double>(x);
  // correct: auto z = x % x;
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
