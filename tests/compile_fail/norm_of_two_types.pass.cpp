#include <drx/drx.hpp>

constexpr auto f = [](auto m) { return drx::norm(m); };
using F = drx::program<f, std::pair<float, float>>;
const auto& tape = F::tape();
