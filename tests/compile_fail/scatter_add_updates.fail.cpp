// Three rows for two positions.
// expect: error::extents_differ
// expect: updates of the type of take
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::scatter_add(x, i, drx::index<0>(x));
  // correct: auto y = drx::scatter_add(x, i, x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, drx::array<int, 2>>;
const auto& tape = F::tape();
