// A pullback that returns one cotangent of two.
// expect: error::custom_rule_returns_another_type
// expect: the cotangents of x
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const auto product =
      drx::custom_vjp([](auto v, auto w) { return v * w; }, [](auto v, auto w) { return std::pair{v * w, w}; },
                      [](auto w, auto c) { return c * w; });
  return product(x, x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
