// Partial sums of an integer type.
// expect: error::needs_floating_values
// expect: the members' numbers and T are floating
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) {
  auto y = drx::reduce_sum(x, drx::as<int>);
  // correct: auto y = drx::reduce_sum(x, drx::as<drx::bfloat16>);
  return y * 2;
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
