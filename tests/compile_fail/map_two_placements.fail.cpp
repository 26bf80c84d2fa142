// A map over values of two placements.
// expect: error::map_over_two_placements
// expect: all at one placement
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};

constexpr auto f = [](auto x, auto y) {
  auto z = drx::map([](auto a, auto b) { return a + b; }, x, y);
  // correct: auto z = drx::map([](auto a, auto b) { return a + b; }, x, drx::broadcast<clients>(drx::reduce_mean(y)));
  return drx::reduce_mean(z);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, drx::placed<drx::array<float, 3>, pupils>>;
const auto& tape = F::tape();
