// A batch of arguments of different numbers of examples.
// expect: error::extents_differ
// expect: the axes have one common extent
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) { return drx::sum(drx::vmap([](auto a, auto b) { return a * b; })(x, y)); };
using F = drx::program<f, drx::array<float, 3, 2>, drx::array<float, 4, 2>>;
// correct: using F = drx::program<f, drx::array<float, 4, 2>, drx::array<float, 4, 2>>;
const auto& tape = F::tape();
