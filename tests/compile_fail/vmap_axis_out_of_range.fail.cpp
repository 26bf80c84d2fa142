// An axis that an argument does not have.
// expect: error::axis_out_of_range
// expect: vmap
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::sum(drx::vmap([](auto a) { return a * a; }, drx::axis<2>)(x)); };
using F = drx::program<f, drx::array<float, 3, 2>>;
const auto& tape = F::tape();
