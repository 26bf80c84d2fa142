// A lambda that declares an array and returns placed ones.
// expect: error::placed_value_where_an_unplaced_one_is_declared
// expect: reduce it first
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto g = [](auto x) -> drx::array<float> {
  return x * 2;
};

constexpr auto f = [](auto x) {
  return g(x) + 1;
};
using F = drx::program<f, drx::placed<float, clients>>;
const auto& tape = F::tape();
