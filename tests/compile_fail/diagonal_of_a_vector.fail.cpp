// A vector has no diagonal.
// expect: error::wrong_rank
// expect: of matrices, the last two axes
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::diagonal(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
// correct: using F = drx::program<f, drx::array<float, 3, 3>>;
const auto& tape = F::tape();
