// An operation of arrays on placed values.
// expect: error::array_operation_on_a_placed_value
// expect: in a map
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x, auto y) {
  auto z = drx::transpose(x + y);
  // correct: auto z = drx::map([](auto v) { return drx::transpose(v); }, x + y);
  return drx::reduce_max(z);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
