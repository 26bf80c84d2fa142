// A number of which a permutation is asked.
// expect: error::needs_a_random_key
// expect: of a key that random_key
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::permutation<5>(x);
  // correct: auto y = drx::permutation<5>(drx::random_key(x));
  return drx::sum(y * 2);
};
using F = drx::program<f, int>;
const auto& tape = F::tape();
