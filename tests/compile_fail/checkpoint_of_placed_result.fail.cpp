// A checkpoint around a map, whose result is placed.
// expect: error::array_operation_on_a_placed_value
// expect: f returns unplaced arrays, of at most seven axes, or structures of them
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto data) {
  auto doubled = drx::checkpoint([](auto d) { return drx::map([](auto x) { return x * 2; }, d); });
  return drx::reduce_sum(doubled(data));
  // correct: return drx::reduce_sum(drx::map(drx::checkpoint([](auto x) { return x * 2; }), data));
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
