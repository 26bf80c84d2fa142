// The Jacobian of an array of double in one of float.
// expect: error::element_types_differ
// expect: all of one floating type
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::jacfwd([](auto v) { return drx::cast<double>(v); })(x); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
