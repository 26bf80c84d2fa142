#include <drx/drx.hpp>

constexpr auto f = [](auto a) {
  const auto equation = [=](auto x) { return x * x - a; };
  return drx::custom_root(equation, a, [=](auto x) { return x; }, [](auto, auto r) { return r; });
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
