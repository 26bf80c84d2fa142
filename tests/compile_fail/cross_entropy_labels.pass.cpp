#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto labels) {
  auto y = drx::softmax_cross_entropy(drx::transpose(x), labels);
  return drx::mean(y);
};
using F = drx::program<f, drx::array<float, 3, 4>, drx::array<int, 4>>;
const auto& tape = F::tape();
