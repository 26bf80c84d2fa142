// A vector has no inverse.
// expect: error::wrong_rank
// expect: of square matrices of float or double
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::inverse(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
// correct: using F = drx::program<f, drx::array<float, 1, 1>>;
const auto& tape = F::tape();
