// A loop of more steps than its counter holds.
// expect: error::loop_has_more_steps_than_an_int32_counts
// expect: at most 2147483647 steps
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::fori_loop<3'000'000'000>(x, [](auto c) { return c * 0.5; });
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
