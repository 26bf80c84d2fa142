// Pupils in clients, reduced over clients first.
// expect: error::reduce_the_inner_placement_first
// expect: reduce inside of a map first
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};

constexpr auto f = [](auto x) {
  auto y = drx::reduce_sum(x);
  // correct: auto y = drx::reduce_sum(drx::map([](auto v) { return drx::reduce_sum(v); }, x));
  return y * 2;
};
using F = drx::program<f, drx::placed<drx::placed<float, pupils>, clients>>;
const auto& tape = F::tape();
