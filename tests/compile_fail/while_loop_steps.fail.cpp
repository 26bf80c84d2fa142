// A bound of more steps than a loop's counter holds.
// expect: error::loop_has_more_steps_than_an_int32_counts
// expect: a bound of at most 2147483647 steps, or none
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  return drx::while_loop<3'000'000'000>([](auto c) { return drx::sum(c) < 9; }, [](auto c) { return c * 2; }, x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
