// A rule that returns a tangent of another shape than the function's result.
// expect: error::custom_rule_returns_another_type
// expect: returns the tangent of
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const auto softplus = drx::custom_jvp([](auto v) { return drx::log1p(drx::exp(v)); },
                                        [](auto v, auto t) { return drx::sum(t * drx::sigmoid(v)); });
  // correct: [](auto v, auto t) { return t * drx::sigmoid(v); });
  return softplus(x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
