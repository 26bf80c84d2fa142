#pragma once
#include <drx/drx.hpp>

namespace production {
struct firms : drx::placement<firms> {};
using inputs = drx::array<float, 5>;

inline constexpr auto loss = [](auto weights, auto rho, auto x, auto made) {
  // Constant elasticity of substitution, (sum a x^r)^(1 / r), by logarithms: all numbers are near 1.
  auto error = [](auto a, auto r, auto own, auto seen) {
    auto total = drx::sum(a * drx::exp(r * drx::log(own)));
    return drx::square(drx::exp(drx::log(total) / r) - seen);
  };
  return drx::reduce_mean(drx::map(error, drx::broadcast<firms>(weights), drx::broadcast<firms>(rho), x, made));
};
inline constexpr auto slope = [](auto weights, auto rho, auto x, auto made) {
  auto of = [=](auto a, auto r) { return loss(a, r, x, made); };
  return drx::value_and_grad<0, 1>(of)(weights, rho);
};
using Program = drx::program<slope, inputs, float, drx::placed<inputs, firms>, drx::placed<float, firms>>;
}  // namespace production
