#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto w) {
  auto z = drx::conv1d(x, w);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 5, 3>, drx::array<float, 5, 3, 2>>;
const auto& tape = F::tape();
