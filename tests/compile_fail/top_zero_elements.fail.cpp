// A reduction with a policy takes placed values, what was kept of their type, and a random key.
// expect: error::slice_out_of_range
// expect: K elements at least 1
#include <drx/algorithms.hpp>

struct at : drx::placement<at> {};
constexpr auto f = [](auto g) {
  auto y = drx::reduce_mean_top<0>(drx::broadcast<at>(g), drx::broadcast<at>(g));
  // correct: auto y = drx::reduce_mean_top<1>(drx::broadcast<at>(g), drx::broadcast<at>(g));
  return y;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
