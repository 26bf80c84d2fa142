// A map over a value that nobody placed.
// expect: error::map_needs_placed_arguments
// expect: every x placed, all at one placement: broadcast<P>\(x\) places
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto y = drx::map([](auto v) { return 2 * v; }, x);
  // correct: auto y = drx::map([](auto v) { return 2 * v; }, drx::broadcast<clients>(x));
  return drx::reduce_sum(y) * 0.5;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
