#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::jacfwd([](auto v) { return drx::sin(v); })(drx::cast<double>(x)); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
