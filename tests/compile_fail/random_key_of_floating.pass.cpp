#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::random_key(drx::cast<int>(x));
  return drx::sum(y * 2);
};
using F = drx::program<f, float>;
const auto& tape = F::tape();
