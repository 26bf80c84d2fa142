// A map of a function that returns what is no value of drx.
// expect: error::struct_is_not_adapted
// expect: and return arrays or structures of them
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct parts {};

constexpr auto f = [](auto x) {
  auto y = drx::map([](auto v) { return parts{}; }, x);
  // correct: auto y = drx::map([](auto v) { return drx::sum(v); }, x);
  return drx::reduce_sum(y);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
