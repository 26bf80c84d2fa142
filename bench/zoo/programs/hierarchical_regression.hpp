#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace hierarchical_regression {
struct counties : drx::placement<counties> {};
using homes = std::tuple<drx::array<double, 20, 3>, drx::array<double, 20>>;  // covariates, logarithms of radon
using global = std::tuple<drx::array<double, 3>, double, double, double>;  // slopes, mean, logarithms of two deviations

inline constexpr auto normal = [](auto x, auto mean, auto log_sd) {  // log density, but for a constant
  return -0.5 * drx::square((x - mean) * drx::exp(-log_sd)) - log_sd;
};
inline constexpr auto of_county = [](auto g, auto own, auto data) {
  auto [slopes, mean, between, within] = g;
  auto [x, y] = data;
  return normal(own, mean, between) + drx::sum(normal(y, drx::matmul(x, slopes) + own, within));
};
inline constexpr auto density = [](auto g, auto own, auto data) {
  return drx::reduce_sum(drx::map(of_county, drx::broadcast<counties>(g), own, data));
};
using Program =
    drx::program<drx::value_and_grad<0>(density), global, drx::placed<double, counties>, drx::placed<homes, counties>>;
}  // namespace hierarchical_regression
