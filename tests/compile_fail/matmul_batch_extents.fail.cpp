// Batches of 5 and of 6 matrices.
// expect: error::extents_differ
// expect: leading axes broadcast
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::matmul(x, y);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 5, 3, 4>, drx::array<float, 6, 4, 2>>;
// correct: using F = drx::program<f, drx::array<float, 5, 3, 4>, drx::array<float, 1, 4, 2>>;
const auto& tape = F::tape();
