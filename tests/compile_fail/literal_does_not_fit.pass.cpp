#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return 3 * x + 1; };
using F = drx::program<f, drx::array<int, 3>>;
const auto& tape = F::tape();
