#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  const auto softplus = drx::custom_jvp([](auto v) { return drx::log1p(drx::exp(v)); },
                                        [](auto v, auto t) { return t * drx::sigmoid(v); });
  return softplus(x);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
