#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return 2 * drx::index<0>(x); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
