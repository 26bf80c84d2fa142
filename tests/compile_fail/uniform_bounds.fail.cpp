// Bounds that do not broadcast to the shape.
// expect: error::shapes_do_not_broadcast
// expect: broadcast to the extents
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::uniform<float, 3>(drx::random_key(1), x, 2);
  // correct: auto y = drx::uniform<float, 2>(drx::random_key(1), x, 2);
  return drx::sum(y * 2);
};
using F = drx::program<f, drx::array<float, 2>>;
const auto& tape = F::tape();
