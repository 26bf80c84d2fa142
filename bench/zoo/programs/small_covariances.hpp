#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace small_covariances {
struct points : drx::placement<points> {};
using point = std::pair<drx::array<double, 3>, drx::array<double, 3, 3>>;  // measured, with its own covariance

inline constexpr auto log_density = [](auto model, auto p) {  // of a normal distribution with the errors added
  auto [mean, factor] = model;
  auto [x, error] = p;
  auto l = drx::cholesky(drx::matmul(factor, drx::transpose(factor)) + error);
  auto z = drx::triangular_solve(l, x - mean);
  return -0.5 * drx::dot(z, z) - drx::sum(drx::log(drx::diagonal(l)));
};
inline constexpr auto loss = [](auto model, auto data) {
  return -drx::reduce_mean(drx::map(log_density, drx::broadcast<points>(model), data));
};
using Program = drx::program<drx::value_and_grad(loss), point, drx::placed<point, points>>;
}  // namespace small_covariances
