// A reduction with a policy takes placed values, what was kept of their type, and a random key.
// expect: error::structures_differ
// expect: reduce_mean_quantised\(x, kept\)
#include <drx/algorithms.hpp>

struct at : drx::placement<at> {};
constexpr auto f = [](auto g) {
  auto y = drx::reduce_mean_quantised(drx::broadcast<at>(g), g);
  // correct: auto y = drx::reduce_mean_quantised(drx::broadcast<at>(g), drx::broadcast<at>(g));
  return y;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
