#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::fma(x, x, drx::reshape<1, 1>(drx::sum(y)));
  return drx::sum(z * 2);
};
using F = drx::program<f, drx::array<float, 2, 3>, drx::array<float, 4>>;
const auto& tape = F::tape();
