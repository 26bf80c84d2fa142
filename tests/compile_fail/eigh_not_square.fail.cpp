// Eigenvalues of a matrix of 2 rows and 3 columns.
// expect: error::matrix_is_not_square
// expect: of square matrices of float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::eigh(x).first;
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 2, 3>>;
// correct: using F = drx::program<f, drx::array<float, 3, 3>>;
const auto& tape = F::tape();
