// The Jacobian of a function that returns two arrays.
// expect: error::jacobian_needs_arrays
// expect: stack or concatenate structures first
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::sum(drx::jacfwd([](auto v) { return std::pair{v, v * v}; })(x)); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
