// Two extents of the window, and an array of one spatial axis.
// expect: error::wrong_rank
// expect: one number per spatial axis
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::max_pool<drx::window<2, 2>>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 4, 3>>;
// correct: using F = drx::program<f, drx::array<float, 4, 4, 3>>;
const auto& tape = F::tape();
