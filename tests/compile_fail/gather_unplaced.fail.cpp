// What is not placed has no members to stack.
// expect: error::reduce_needs_a_placed_value
// expect: gather<N>\(x\): x is placed
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x, auto i) {
  auto y = drx::gather<4>(i) + i;
  // correct: auto y = drx::gather<4>(x) + i;
  return drx::sum(y);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, float>;
const auto& tape = F::tape();
