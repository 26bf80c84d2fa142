// A function of the standard library on an array.
// expect: error::function_of_numbers_on_an_array
// expect: drx::sin\(x\), drx::exp\(x\)
#include <drx/drx.hpp>
#include <cmath>

constexpr auto f = [](auto x) { return 2 * std::sin(x); };
// correct: constexpr auto f = [](auto x) { return 2 * drx::sin(x); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
