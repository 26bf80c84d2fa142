// A case chosen by a floating number.
// expect: error::needs_integer_values
// expect: i is a drx::array<int>
#include <drx/drx.hpp>

constexpr auto f = [](auto i, auto x) {
  auto y = drx::switch_case(i, [=] { return x; }, [=] { return x * 2; });
  return drx::sum(y);
};
using F = drx::program<f, float, drx::array<float, 3>>;
// correct: using F = drx::program<f, int, drx::array<float, 3>>;
const auto& tape = F::tape();
