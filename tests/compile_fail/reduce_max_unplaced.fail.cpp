// A reduction over members of a value that nobody placed.
// expect: error::reduce_needs_a_placed_value
// expect: over axes of an array: drx::max
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::reduce_max(x);
  // correct: auto y = drx::max(x);
  return y + 1;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
