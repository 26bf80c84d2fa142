#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::max(x);
  return y + 1;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
