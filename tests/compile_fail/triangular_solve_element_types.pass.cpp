#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto z = drx::triangular_solve<drx::upper, drx::transposed>(x, y);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<double, 3, 3>, drx::array<double, 3>>;
const auto& tape = F::tape();
