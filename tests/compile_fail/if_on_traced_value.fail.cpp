// Control flow that depends on a traced value.
// expect: error::branch_on_a_traced_value
// expect: drx::where\(condition, a, b\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  if (x > y) return x;
  return y;
};
using F = drx::program<f, float, float>;
const auto& tape = F::tape();
