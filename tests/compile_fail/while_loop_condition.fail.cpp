// A loop whose condition is a number.
// expect: error::condition_is_not_one_bool
// expect: condition\(carry\) is one bool
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  return drx::while_loop<9>([](auto c) { return drx::sum(c); }, [](auto c) { return c * 2; }, x);
  // correct: return drx::while_loop<9>([](auto c) { return drx::sum(c) < 9; }, [](auto c) { return c * 2; }, x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
