#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::argmax<1>(x);
  return drx::max(y);
};
using F = drx::program<f, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
