#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = x + drx::cast<float>(y);
  return drx::sum(2 * z);
};
using F = drx::program<f, drx::array<float, 3>, drx::array<double, 3>>;
const auto& tape = F::tape();
