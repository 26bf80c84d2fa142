// nonlinear_fit/nonlinear_fit.hpp: nonlinear least squares whose residual is ordinary C++.
#pragma once

#include <array>
#include <drx/drx.hpp>
#include <tuple>

namespace nonlinear_fit {

struct measurements : drx::placement<measurements> {};
using measurement = std::tuple<double, double>;  // volume and pressure

// cut-begin residual
/// The residual: y' = b1 (b0 - y) from y(0) = 0 to x, by Runge-Kutta steps of at most 20, minus the measured value.
struct residual {
  template <class S>
  S operator()(const std::array<S, 2>& b, const S& x, const S& measured) const {
    const auto slope = [&](const S& y) -> S { return b[1] * (b[0] - y); };
    S y = 0, at = 0;
    while (at < x) {  // as many steps as this x needs
      S h = x - at;
      if (h > 20) h = 20;
      const S k1 = slope(y), k2 = slope(y + h / 2 * k1), k3 = slope(y + h / 2 * k2), k4 = slope(y + h * k3);
      y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      at += h;
    }
    return y - measured;
  }
};
// cut-end residual

// cut-begin nonlinear_fit
/// The terms that a measurement adds to the normal equations: J^T J, J^T r, r^2.
inline constexpr auto normal_equations = [](auto b, auto m) {
  auto [x, y] = m;
  auto [r, j] = drx::value_and_grad([=](auto at) { return drx::call(residual{}, at, x, y); })(b);
  return std::tuple{drx::reshape<2, 1>(j) * drx::reshape<1, 2>(j), r * j, r * r};
};

/// A Gauss-Newton step, with Levenberg's and Marquardt's damping, in one message.
inline constexpr auto step = [](auto b, auto damping, auto data) {
  auto [jj, jr, rr] = drx::reduce_sum(drx::map(normal_equations, drx::broadcast<measurements>(b), data));
  auto damped = jj + damping * drx::constant(drx::array<double, 2, 2>{1, 0, 0, 1}) * jj;
  return std::tuple{b - drx::solve(damped, jr), rr};
};
// cut-end nonlinear_fit

using step_program = drx::program<step, drx::array<double, 2>, double, drx::placed<measurement, measurements>>;

}  // namespace nonlinear_fit
