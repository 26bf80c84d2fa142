// No argument has an axis.
// expect: error::nothing_is_batched
// expect: vmap
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::sum(drx::vmap([](auto a) { return a * a; }, drx::none)(x)); };
using F = drx::program<f, drx::array<float, 3, 2>>;
const auto& tape = F::tape();
