// Five taps on four elements.
// expect: error::window_exceeds_the_padded_input
// expect: no longer than the padded input
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto w) {
  auto z = drx::conv1d(x, w);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 4, 3>, drx::array<float, 5, 3, 2>>;
// correct: using F = drx::program<f, drx::array<float, 5, 3>, drx::array<float, 5, 3, 2>>;
const auto& tape = F::tape();
