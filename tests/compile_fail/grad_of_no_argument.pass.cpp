#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) { return drx::sum(x * y); };
constexpr auto g = drx::grad<1>(f);
using F = drx::program<g, drx::array<float, 3>, drx::array<float, 3>>;
const std::string text = drx::show<F>();
