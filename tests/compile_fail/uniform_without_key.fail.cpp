// A seed where a key is needed.
// expect: error::needs_a_random_key
// expect: random_key, split or fold_in gave
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::uniform<float, 3>(x);
  // correct: auto y = drx::uniform<float, 3>(drx::random_key(x));
  return drx::sum(y * 2);
};
using F = drx::program<f, int>;
const auto& tape = F::tape();
