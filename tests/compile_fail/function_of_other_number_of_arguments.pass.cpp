#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) { return drx::sum(x * y); };
using F = drx::program<f, drx::array<float, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
