// A floating number folded into a key.
// expect: error::needs_integer_values
// expect: a whole number
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::fold_in(x, 0.5);
  // correct: auto y = drx::fold_in(x, 5);
  return drx::split(y);
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
