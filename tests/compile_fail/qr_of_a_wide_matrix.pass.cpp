#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::qr(drx::transpose(x)).second;
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 2, 3>>;
const auto& tape = F::tape();
