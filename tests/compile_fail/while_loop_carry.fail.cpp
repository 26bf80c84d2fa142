// A loop whose body returns another type than it takes.
// expect: error::loop_body_changes_the_type_of_its_carry
// expect: returns the carry's own type
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  return drx::while_loop<9>([](auto c) { return drx::sum(c) < 9; }, [](auto c) { return drx::sum(c); }, x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
