// The third row of two.
// expect: error::slice_out_of_range
// expect: each index below its axis' extent
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::index<2>(x);
  // correct: auto y = drx::index<1>(x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>>;
const auto& tape = F::tape();
