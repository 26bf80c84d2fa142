// A position that is a float.
// expect: error::needs_integer_values
// expect: index\(x, i, j\): ints
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::index(x, i);
  // correct: auto y = drx::index(x, drx::cast<int>(i));
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, float>;
const auto& tape = F::tape();
