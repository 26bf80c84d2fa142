// A branch on three bools.
// expect: error::condition_is_not_one_bool
// expect: the condition is a drx::array<bool>
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::cond(x > 0, [](auto v) { return v * 2; }, [](auto v) { return v; }, x);
  // correct: auto y = drx::cond(drx::sum(x) > 0, [](auto v) { return v * 2; }, [](auto v) { return v; }, x);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
