#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::broadcast_to<2, 3>(x);
  return drx::sum<0>(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
