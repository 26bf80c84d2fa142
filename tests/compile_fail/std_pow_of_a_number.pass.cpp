#include <drx/drx.hpp>
#include <cmath>

constexpr auto f = [](auto x) {
  auto y = drx::pow(x, 2);
  return y + x;
};
using F = drx::program<f, double>;
const auto& tape = F::tape();
