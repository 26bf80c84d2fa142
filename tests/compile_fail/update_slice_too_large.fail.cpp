// Two columns as two rows of four.
// expect: error::slice_out_of_range
// expect: no larger than x
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::update_slice(x, drx::transpose(x), i);
  // correct: auto y = drx::update_slice(x, drx::slice<0, 1>(x), i);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, int>;
const auto& tape = F::tape();
