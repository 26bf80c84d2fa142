#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::fold_in(x, 5);
  return drx::split(y);
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
