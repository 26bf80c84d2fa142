// Paddings of two axes, of a vector.
// expect: error::wrong_rank
// expect: at most as many paddings as the array has axes
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::pad<drx::padding<1>, drx::padding<2>>(x) + i;
  // correct: auto y = drx::pad<drx::padding<1>>(x) + i;
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 4>, float>;
const auto& tape = F::tape();
