// Integers have no logarithms.
// expect: error::needs_floating_values
// expect: of one floating element type
#include <drx/drx.hpp>

constexpr auto f = [](auto a, auto b) {
  auto c = drx::log_matmul(a, b);
  // correct: auto c = drx::log_matmul(drx::cast<float>(a), drx::cast<float>(b));
  return drx::sum(c + 1);
};
using F = drx::program<f, drx::array<int, 2, 3>, drx::array<int, 3, 4>>;
const auto& tape = F::tape();
