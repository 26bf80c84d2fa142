// A loop whose body returns another type than it takes.
// expect: error::loop_body_changes_the_type_of_its_carry
// expect: must return the carry's own type
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::fori_loop<4>(x, [](auto c) { return drx::sum(c); });
  // correct: auto y = drx::fori_loop<4>(x, [](auto c) { return c * drx::sum(c); });
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
