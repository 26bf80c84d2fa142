// 0.5 beside an array of int.
// expect: error::a_literal_does_not_fit_the_element_type
// expect: cast<T>\(x\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return 3 * x + 0.5; };
// correct: constexpr auto f = [](auto x) { return 3 * x + 1; };
using F = drx::program<f, drx::array<int, 3>>;
const auto& tape = F::tape();
