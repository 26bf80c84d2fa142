// Control flow that depends on a traced value.
// expect: error::branch_on_a_traced_value
// expect: drx::where\(condition, a, b\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  while (x > 1) x = x * 0.5;
  // correct: x = drx::fori_loop<8>(x, [](auto v) { return drx::where(v > 1, v * 0.5, v); });
  return x;
};
using F = drx::program<f, float>;
const auto& tape = F::tape();
