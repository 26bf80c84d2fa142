#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto g = drx::grad([](auto v) { return drx::sum(v * v); })(x);
  return x - 0.1 * g;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
