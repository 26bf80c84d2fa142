// An operation of arrays on placed values.
// expect: error::array_operation_on_a_placed_value
// expect: in a map
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto y = drx::exp(x);
  // correct: auto y = drx::map([](auto v) { return drx::exp(v); }, x);
  return drx::reduce_sum(y);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
