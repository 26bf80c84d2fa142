// One letter for axes of 3 and 2.
// expect: error::extents_differ
// expect: of one extent wherever it stands
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::einsum<"ij,jk->ik">(x, x);
  // correct: auto z = drx::einsum<"ij,kj->ik">(x, x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 2, 3>>;
const auto& tape = F::tape();
