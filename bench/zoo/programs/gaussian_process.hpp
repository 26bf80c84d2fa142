#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace gaussian_process {
struct tasks : drx::placement<tasks> {};
using inputs = drx::array<double, 64>;

inline constexpr auto likelihood = [](auto hyper, auto x, auto y) {
  auto [scale, width, noise] = hyper;  // logarithms
  auto apart = drx::square((drx::reshape<64, 1>(x) - x) * drx::exp(-width));
  auto k = drx::exp(scale) * drx::exp(-0.5 * apart) + drx::exp(noise) * drx::identity<drx::array<double, 64, 64>>();
  auto l = drx::cholesky(k);
  return -0.5 * drx::sum(drx::square(drx::triangular_solve(l, y))) - drx::sum(drx::log(drx::diagonal(l)));
};
inline constexpr auto loss = [](auto hyper, auto x, auto y) {
  return drx::reduce_mean(drx::map(likelihood, drx::broadcast<tasks>(hyper), x, y));
};
using Program = drx::program<drx::value_and_grad(loss), std::tuple<double, double, double>, drx::placed<inputs, tasks>,
                             drx::placed<inputs, tasks>>;
}  // namespace gaussian_process
