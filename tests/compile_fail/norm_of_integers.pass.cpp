#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::norm(drx::cast<float>(x));
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<int, 3>>;
const auto& tape = F::tape();
