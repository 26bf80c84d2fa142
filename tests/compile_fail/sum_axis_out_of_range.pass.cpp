#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::sum<1>(x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
