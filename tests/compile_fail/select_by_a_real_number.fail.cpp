// A member's number is an integer.
// expect: error::needs_integer_values
// expect: i is an int, or a traced int
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x, auto i) {
  auto y = drx::select(x, i) + i;
  // correct: auto y = drx::select(x, drx::cast<int>(i)) + i;
  return drx::sum(y);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, float>;
const auto& tape = F::tape();
