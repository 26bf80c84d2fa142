#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::fori_loop<4>(x, [](auto i, auto c) { return c * drx::cast<float>(i); });
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
