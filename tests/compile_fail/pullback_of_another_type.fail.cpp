// A cotangent that is not of the result's type.
// expect: error::structures_differ
// expect: a cotangent of the type of the result
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto [y, pullback] = drx::vjp([](auto v) { return drx::sum(v * v); }, x);
  return pullback(x);
  // correct: return pullback(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
