#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::cond(drx::sum(x) > 0, [](auto v) { return v * 2; }, [](auto v) { return v; }, x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
