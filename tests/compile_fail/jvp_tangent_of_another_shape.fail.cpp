// A tangent that is not of its primal's type.
// expect: error::structures_differ
// expect: as many tangents as arguments, of the same types
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto t) {
  auto [y, dy] = drx::jvp([](auto v) { return drx::sin(v); }, x, t);
  return y + dy;
};
using F = drx::program<f, drx::array<float, 3>, drx::array<float, 2>>;
// correct: using F = drx::program<f, drx::array<float, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
