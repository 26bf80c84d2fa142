#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::reshape<2, 6>(x);
  return drx::sum<0>(y);
};
using F = drx::program<f, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
