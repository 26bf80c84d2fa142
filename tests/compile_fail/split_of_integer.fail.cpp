// A number is split.
// expect: error::needs_a_random_key
// expect: that random_key
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::split(x);
  // correct: auto y = drx::split(drx::random_key(x));
  return drx::sum(y * 2);
};
using F = drx::program<f, int>;
const auto& tape = F::tape();
