// A fused product and sum of placed values.
// expect: error::array_operation_on_a_placed_value
// expect: in a map
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto z = drx::fma(x, x, x);
  // correct: auto z = drx::map([](auto v) { return drx::fma(v, v, v); }, x);
  return drx::reduce_sum(z);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
