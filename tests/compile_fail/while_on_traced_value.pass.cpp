#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  x = drx::fori_loop<8>(x, [](auto v) { return drx::where(v > 1, v * 0.5, v); });
  return x;
};
using F = drx::program<f, float>;
const auto& tape = F::tape();
