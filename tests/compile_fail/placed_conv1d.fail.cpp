// An operation of arrays on placed values.
// expect: error::array_operation_on_a_placed_value
// expect: in a map
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x, auto y) {
  auto z = drx::conv1d(x, y);
  // correct: auto z = drx::map([](auto a, auto b) { return drx::conv1d(a, b); }, x, y);
  return drx::reduce_max(z);
};
using F =
    drx::program<f, drx::placed<drx::array<float, 5, 3>, clients>, drx::placed<drx::array<float, 2, 3, 4>, clients>>;
const auto& tape = F::tape();
