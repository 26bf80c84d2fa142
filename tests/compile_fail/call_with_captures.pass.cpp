#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const auto g = [](const auto& v) { return v * 2; };
  return drx::call(g, x);
};
using F = drx::program<f, double>;
const auto& tape = F::tape();
