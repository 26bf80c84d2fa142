#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::var<0>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 1, 3>>;
const auto& tape = F::tape();
