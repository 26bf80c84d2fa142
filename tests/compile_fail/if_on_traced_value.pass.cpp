#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) {
  auto larger = drx::where(x > y, x, y);
  return larger;
};
using F = drx::program<f, float, float>;
const auto& tape = F::tape();
