// A sum over members of truth values.
// expect: error::needs_numbers
// expect: members must be numbers
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto y = drx::map([](auto v) { return v > 0; }, x);
  // correct: auto y = drx::map([](auto v) { return drx::cast<int>(v > 0); }, x);
  return drx::reduce_sum(y);
};
using F = drx::program<f, drx::placed<float, clients>>;
const auto& tape = F::tape();
