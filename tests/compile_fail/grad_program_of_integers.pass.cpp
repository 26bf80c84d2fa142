#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::sum(x * x); };
constexpr auto g = drx::grad(f);
using F = drx::program<g, drx::array<float, 3>>;
const std::string text = drx::show<F>();
