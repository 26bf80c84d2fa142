// Singular values of a vector.
// expect: error::wrong_rank
// expect: of matrices of float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = std::get<1>(drx::svd(x));
  // correct: auto z = std::get<1>(drx::svd(drx::expand_dims<1>(x)));
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
