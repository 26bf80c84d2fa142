// A call's function holds a value.
// expect: error::traced_lambda_captures_a_runtime_value
// expect: f has no captures
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const double rate = 2;
  const auto g = [rate](const auto& v) { return v * rate; };
  return drx::call(g, x);
};
using F = drx::program<f, double>;
const auto& tape = F::tape();
