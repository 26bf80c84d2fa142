// A draw with placed keys outside of a map.
// expect: error::array_operation_on_a_placed_value
// expect: of a placed key in a map
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) {
  auto y = drx::normal<float, 3>(x);
  // correct: auto y = drx::map([](auto k) { return drx::normal<float, 3>(k); }, x);
  return drx::reduce_sum(y);
};
using F = drx::program<f, drx::placed<drx::prng_key, clients>>;
const auto& tape = F::tape();
