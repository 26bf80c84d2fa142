// (3, 4) times (3, 4).
// expect: error::inner_extents_differ
// expect: transpose\(x\) turns one
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::matmul(x, y);
  // correct: auto z = drx::matmul(x, drx::transpose(y));
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3, 4>, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
