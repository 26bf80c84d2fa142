// A function of two arguments with one input.
// expect: error::function_does_not_take_these_arguments
// expect: its function must take one argument for each
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) { return drx::sum(x * y); };
using F = drx::program<f, drx::array<float, 3>>;
// correct: using F = drx::program<f, drx::array<float, 3>, drx::array<float, 3>>;
const auto& tape = F::tape();
