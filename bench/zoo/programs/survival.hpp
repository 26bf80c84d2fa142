#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace survival {
struct patients : drx::placement<patients> {};
using patient = std::tuple<drx::array<float, 8>, float, float>;  // covariates, log time, whether the event was seen
using model = std::pair<drx::array<float, 8>, float>;            // weights, logarithm of the shape

inline constexpr auto log_density = [](auto m, auto p) {  // Weibull, censored from the right
  auto [w, log_shape] = m;
  auto [x, log_time, seen] = p;
  auto z = (log_time - drx::dot(w, x)) * drx::exp(log_shape);
  return seen * (z + log_shape - log_time) - drx::exp(z);
};
inline constexpr auto loss = [](auto m, auto data) {
  return -drx::reduce_mean(drx::map(log_density, drx::broadcast<patients>(m), data));
};
using Program = drx::program<drx::value_and_grad(loss), model, drx::placed<patient, patients>>;
}  // namespace survival
