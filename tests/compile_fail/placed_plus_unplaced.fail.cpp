// A sum of a placed value and one that is not.
// expect: error::placed_and_unplaced_values_do_not_mix
// expect: broadcast<P>\(x\), or reduce the placed one
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x, auto m) {
  auto y = x - m;
  // correct: auto y = x - drx::broadcast<clients>(m);
  return drx::reduce_mean(y * 2);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, drx::array<float, 3>>;
const auto& tape = F::tape();
