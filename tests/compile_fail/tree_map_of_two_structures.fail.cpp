// A function leaf by leaf of structures of two types.
// expect: error::structures_differ
// expect: structures of one type
#include <drx/drx.hpp>

constexpr auto f = [](auto m, auto n) { return drx::tree_map([](auto a, auto b) { return a * b; }, m, n); };
using F = drx::program<f, std::pair<drx::array<float, 3>, float>, std::pair<float, drx::array<float, 3>>>;
// correct: using F = drx::program<f, std::pair<drx::array<float, 3>, float>, std::pair<drx::array<float, 3>, float>>;
const auto& tape = F::tape();
