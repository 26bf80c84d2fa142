// Arithmetic on numbers of 16 bits and floats.
// expect: error::element_types_differ
// expect: cast<T>\(x\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = x * y;
  // correct: auto z = drx::cast<float>(x) * y;
  return z;
};
using F = drx::program<f, drx::array<drx::float16, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
