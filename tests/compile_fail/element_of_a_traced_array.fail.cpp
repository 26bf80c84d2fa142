// An element of a traced array, as if it had numbers.
// while recording
// expect: a traced array has no elements yet: index<0>\(x\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return 2 * x[0]; };
// correct: constexpr auto f = [](auto x) { return 2 * drx::index<0>(x); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
