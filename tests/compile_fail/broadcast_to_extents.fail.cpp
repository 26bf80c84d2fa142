// From 3 to 4.
// expect: error::shapes_do_not_broadcast
// expect: each extent of x must be 1 or the one asked for
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::broadcast_to<2, 4>(x);
  // correct: auto y = drx::broadcast_to<2, 3>(x);
  return drx::sum<0>(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
