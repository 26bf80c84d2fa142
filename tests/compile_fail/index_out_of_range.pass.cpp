#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::index<1>(x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>>;
const auto& tape = F::tape();
