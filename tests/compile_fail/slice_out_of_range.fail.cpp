// Elements 2 to 5 of 4.
// expect: error::slice_out_of_range
// expect: 0 <= start <= stop <= extent
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::slice<2, 5>(x);
  // correct: auto y = drx::slice<2, 4>(x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 4>>;
const auto& tape = F::tape();
