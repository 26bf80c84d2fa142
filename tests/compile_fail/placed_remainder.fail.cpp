// The remainder of placed values outside of a map.
// expect: error::array_operation_on_a_placed_value
// expect: do it in a map
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) {
  auto z = drx::reduce_sum(x % x);
  // correct: auto z = drx::reduce_sum(drx::map([](auto v) { return v % v; }, x));
  return drx::sum(z);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
