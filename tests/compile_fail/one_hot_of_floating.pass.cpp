#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::one_hot<float, 10>(drx::cast<int>(x));
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
