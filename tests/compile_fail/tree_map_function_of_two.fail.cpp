// A function of two leaves, of one structure.
// expect: error::function_does_not_take_these_arguments
// expect: f takes the leaves beside each other
#include <drx/drx.hpp>

constexpr auto f = [](auto m) { return drx::tree_map([](auto a, auto b) { return a * b; }, m); };
// correct: constexpr auto f = [](auto m) { return drx::tree_map([](auto a, auto b) { return a * b; }, m, m); };
using F = drx::program<f, std::pair<drx::array<float, 3>, float>>;
const auto& tape = F::tape();
