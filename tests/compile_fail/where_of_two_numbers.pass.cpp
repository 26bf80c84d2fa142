#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::where(x > 0, drx::ones<drx::scalar<float>>(), 0.0);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
