#include <drx/drx.hpp>

#include <string>

constexpr auto f = [](auto x) { return drx::sum(x); };
using F = drx::program<f, drx::array<float, 2>>;
const auto& tape = F::tape();
