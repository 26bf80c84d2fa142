// A map of a function of two arguments over one value.
// expect: error::function_does_not_take_these_arguments
// expect: f must take one member of each x
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto y = drx::map([](auto a, auto b) { return a + b; }, x);
  // correct: auto y = drx::map([](auto a, auto b) { return a + b; }, x, x);
  return drx::reduce_sum(y);
};
using F = drx::program<f, drx::placed<float, clients>>;
const auto& tape = F::tape();
