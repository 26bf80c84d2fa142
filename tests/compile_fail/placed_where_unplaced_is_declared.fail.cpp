// A variable that is declared as an array, and given placed ones.
// expect: error::placed_value_where_an_unplaced_one_is_declared
// expect: reduce it first
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  drx::array<float> y = x * 2;
  // correct: drx::array<float> y = drx::reduce_sum(x * 2);
  return y + 1;
};
using F = drx::program<f, drx::placed<float, clients>>;
const auto& tape = F::tape();
