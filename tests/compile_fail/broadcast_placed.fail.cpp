// A broadcast of what is placed already.
// expect: error::broadcast_needs_an_unplaced_value
// expect: reduce it first, or broadcast inside
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto y = drx::broadcast<clients>(x);
  // correct: auto y = drx::broadcast<clients>(drx::reduce_mean(x));
  return drx::map([](auto v) { return v + 1; }, y);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
