#include <drx/drx.hpp>
#include <cmath>

constexpr auto f = [](auto x) { return 2 * drx::sin(x); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
