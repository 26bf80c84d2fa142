// A reduction with a policy takes placed values, what was kept of their type, and a random key.
// expect: error::reduce_needs_a_placed_value
// expect: reduce_sum_private\(x, key
#include <drx/algorithms.hpp>

struct at : drx::placement<at> {};
constexpr auto f = [](auto g) {
  auto y = drx::reduce_sum_private(g, drx::random_key(1), 1., 1.);
  // correct: auto y = drx::reduce_sum_private(drx::broadcast<at>(g), drx::random_key(1), 1., 1.);
  return y;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
