#include <drx/drx.hpp>

constexpr auto f = [](auto m) { return drx::tree_map([](auto a, auto b) { return a * b; }, m, m); };
using F = drx::program<f, std::pair<drx::array<float, 3>, float>>;
const auto& tape = F::tape();
