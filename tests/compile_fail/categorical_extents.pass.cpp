#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto k = drx::random_key(7);
  auto z = drx::categorical<3, 2>(k, x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 2, 5>>;
const auto& tape = F::tape();
