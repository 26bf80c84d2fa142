// The lower triangle of a vector.
// expect: error::wrong_rank
// expect: of matrices, the last two axes
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::tril(x);
  // correct: auto z = drx::tril(drx::outer(x, x));
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
