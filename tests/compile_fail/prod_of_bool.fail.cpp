// The product of conditions.
// expect: error::element_types_differ
// expect: prod<axes...>\(array of numbers\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::prod(x > i);
  // correct: auto y = drx::prod(drx::where(x > i, 1, x));
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, float>;
const auto& tape = F::tape();
