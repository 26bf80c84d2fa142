#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::matmul(x, drx::identity<drx::array<double, 3, 3>>()); };
using F = drx::program<f, drx::array<double, 2, 3>>;
const auto& tape = F::tape();
