#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::sum(drx::jacfwd([](auto v) { return drx::concatenate(v, v * v); })(x)); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
