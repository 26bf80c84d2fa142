// A matrix of float and a vector of double.
// expect: error::element_types_differ
// expect: one element type
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::triangular_solve<drx::upper, drx::transposed>(x, y);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3, 3>, drx::array<double, 3>>;
// correct: using F = drx::program<f, drx::array<double, 3, 3>, drx::array<double, 3>>;
const auto& tape = F::tape();
