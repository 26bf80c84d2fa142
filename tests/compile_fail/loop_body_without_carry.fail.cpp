// A loop whose body takes no carry.
// expect: error::function_does_not_take_these_arguments
// expect: the body takes \(carry\) or \(i, carry\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::fori_loop<4>(x, []() { return 1; });
  // correct: auto y = drx::fori_loop<4>(x, [](auto i, auto c) { return c * drx::cast<float>(i); });
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
