// The gradient in integers.
// expect: error::grad_needs_floating_arguments
// expect: must be float or double throughout
#include <drx/drx.hpp>

constexpr auto f = [](auto n, auto x) {
  auto g = drx::grad([](auto k, auto v) { return drx::sum(drx::cast<float>(k) * v); })(n, x);
  // correct: auto g = drx::grad<1>([](auto k, auto v) { return drx::sum(drx::cast<float>(k) * v); })(n, x);
  return drx::sum(g);
};
using F = drx::program<f, drx::array<int, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
