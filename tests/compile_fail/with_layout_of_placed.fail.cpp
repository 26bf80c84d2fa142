// A layout around the map.
// expect: error::array_operation_on_a_placed_value
// expect: x is an array of one member
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct model : drx::placement<model> {};
constexpr auto f = [](auto x) {
  auto y = drx::with_layout<model, 2>(x, drx::split_along<1>);
  // correct: auto y = drx::map([](auto v) { return drx::with_layout<model, 2>(v, drx::split_along<1>); }, x);
  return drx::map([](auto v) { return drx::sum(v); }, y);
};
using F = drx::program<f, drx::placed<drx::array<float, 3, 4>, clients>>;
const auto& tape = F::tape();
