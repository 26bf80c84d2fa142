#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const auto g = [](const auto& v, const auto& w) { return v * w; };
  return drx::call(g, x, x);
};
using F = drx::program<f, double>;
const auto& tape = F::tape();
