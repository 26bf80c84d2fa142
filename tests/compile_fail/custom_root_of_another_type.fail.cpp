// An equation whose residual is not of the unknown's shape.
// expect: error::custom_rule_returns_another_type
// expect: take and return values of the guess's type
#include <drx/drx.hpp>

constexpr auto f = [](auto a) {
  const auto equation = [=](auto x) { return drx::sum(x * x - a); };
  // correct: const auto equation = [=](auto x) { return x * x - a; };
  return drx::custom_root(equation, a, [=](auto x) { return x; }, [](auto, auto r) { return r; });
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
