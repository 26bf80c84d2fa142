// A result with a letter that no operand has.
// expect: error::not_an_einsum_specification
// expect: a letter for each axis
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::einsum<"ij,jk->il">(x, x);
  // correct: auto z = drx::einsum<"ij,jk->ik">(x, x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3, 3>>;
const auto& tape = F::tape();
