// An axis named twice.
// expect: error::axis_out_of_range
// expect: P is a permutation of 0
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::transpose<0, 0>(x);
  // correct: auto y = drx::transpose<0, 1>(x);
  return drx::matmul(drx::transpose(x), y);
};
using F = drx::program<f, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
