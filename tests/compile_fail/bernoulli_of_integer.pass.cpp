#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::bernoulli<3>(x, 0.5);
  return drx::cast<int>(y) * 2;
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
