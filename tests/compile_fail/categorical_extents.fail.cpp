// Three draws of each of two rows, the wrong way round.
// expect: error::shapes_do_not_broadcast
// expect: whose other axes broadcast to the extents
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto k = drx::random_key(7);
  auto z = drx::categorical<2, 3>(k, x);
  // correct: auto z = drx::categorical<3, 2>(k, x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 2, 5>>;
const auto& tape = F::tape();
