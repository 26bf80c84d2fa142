// The gradient of a function of integers, as a program.
// expect: error::grad_needs_floating_arguments
// expect: in argument i, from 0, which is floating
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::sum(x * x); };
constexpr auto g = drx::grad(f);
using F = drx::program<g, drx::array<int, 3>>;
// correct: using F = drx::program<g, drx::array<float, 3>>;
const std::string text = drx::show<F>();
