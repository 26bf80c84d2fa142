// A seed that is not whole.
// expect: error::needs_integer_values
// expect: a whole number
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::random_key(x);
  // correct: auto y = drx::random_key(drx::cast<int>(x));
  return drx::sum(y * 2);
};
using F = drx::program<f, float>;
const auto& tape = F::tape();
