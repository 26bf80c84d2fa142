#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::uniform<float, 3>(x, 0, 9);
  return drx::sum(y * 2);
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
