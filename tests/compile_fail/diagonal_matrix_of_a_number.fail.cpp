// A number is no diagonal.
// expect: error::wrong_rank
// expect: of vectors, the last axis
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::diagonal_matrix(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float>>;
// correct: using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
