#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  return drx::while_loop<9>([](auto c) { return drx::sum(c) < 9; }, [](auto c) { return c * drx::sum(c); }, x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
