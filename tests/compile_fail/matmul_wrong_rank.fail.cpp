// A product with a number.
// expect: error::wrong_rank
// expect: matmul of \(m, k\) and \(k, n\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::matmul(x, y);
  // correct: auto z = x * y;
  return drx::sum(z);
};
using F = drx::program<f, drx::array<float, 3, 4>, float>;
const auto& tape = F::tape();
