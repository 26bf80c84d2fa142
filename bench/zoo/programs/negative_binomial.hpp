#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace negative_binomial {
struct rows : drx::placement<rows> {};
using coefficients = std::pair<drx::array<double, 10>, double>;  // and the logarithm of the dispersion

inline constexpr auto density = [](auto model, auto x, auto count) {
  auto [slopes, log_r] = model;
  auto r = drx::exp(log_r);
  auto eta = drx::dot(slopes, x);
  return drx::lgamma(count + r) - drx::lgamma(r) - drx::lgamma(count + 1) + r * log_r + count * eta -
         (count + r) * drx::log(r + drx::exp(eta));
};
inline constexpr auto likelihood = [](auto model, auto x, auto counts) {
  return drx::reduce_sum(drx::map(density, drx::broadcast<rows>(model), x, counts));
};
using Program = drx::program<drx::value_and_grad(likelihood), coefficients, drx::placed<drx::array<double, 10>, rows>,
                             drx::placed<double, rows>>;
}  // namespace negative_binomial
