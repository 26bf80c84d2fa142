// The weight is one for all members.
// expect: error::reduce_needs_a_placed_value
// expect: both placed at one placement
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x, auto i) {
  auto y = drx::reduce_weighted_mean(x, i) + i;
  // correct: auto y = drx::reduce_weighted_mean(x, drx::broadcast<clients>(i)) + i;
  return drx::sum(y);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, float>;
const auto& tape = F::tape();
