// A call's function takes one number, not two.
// expect: error::function_of_a_call_does_not_take_these_numbers
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const auto g = [](const auto& v) { return v * 2; };
  // correct: const auto g = [](const auto& v, const auto& w) { return v * w; };
  return drx::call(g, x, x);
};
using F = drx::program<f, double>;
const auto& tape = F::tape();
