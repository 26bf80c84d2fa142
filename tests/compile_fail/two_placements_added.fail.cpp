// A sum of values of two placements.
// expect: error::values_of_two_placements_do_not_mix
// expect: reduce the placed one
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};

constexpr auto f = [](auto x, auto y) {
  auto z = x + y;
  // correct: auto z = x + drx::broadcast<clients>(drx::reduce_sum(y));
  return drx::reduce_mean(z);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, drx::placed<drx::array<float, 3>, pupils>>;
const auto& tape = F::tape();
