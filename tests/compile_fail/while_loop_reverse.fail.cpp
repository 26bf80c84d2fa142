// The gradient of a loop without a bound.
// while recording
// expect: while_loop without a bound has no reverse derivative: give it one
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  return drx::sum(drx::while_loop([](auto c) { return drx::sum(c) < 9; }, [](auto c) { return c * 2; }, x));
};
constexpr auto slope = drx::grad<0>(f);
using F = drx::program<slope, drx::array<float, 3>>;
const auto& tape = F::tape();
