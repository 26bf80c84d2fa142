// Two letters for one axis.
// expect: error::wrong_rank
// expect: a letter for each axis
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::einsum<"ij->i">(x);
  // correct: auto z = drx::einsum<"i->i">(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
