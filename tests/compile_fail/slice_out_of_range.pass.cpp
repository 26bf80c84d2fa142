#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::slice<2, 4>(x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 4>>;
const auto& tape = F::tape();
