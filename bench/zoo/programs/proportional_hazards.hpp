#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace proportional_hazards {
struct strata : drx::placement<strata> {};
// Patients of a stratum by falling times, so that those at risk are the ones before: covariates, whether it was seen.
using stratum = std::tuple<drx::array<float, 64, 6>, drx::array<float, 64>>;

inline constexpr auto partial_likelihood = [](auto w, auto s) {
  auto [x, seen] = s;
  auto score = drx::matmul(x, w);
  auto at_risk = drx::log(drx::cumsum<0>(drx::exp(score)));
  return drx::sum(seen * (score - at_risk));
};
inline constexpr auto loss = [](auto w, auto data) {
  return -drx::reduce_mean(drx::map(partial_likelihood, drx::broadcast<strata>(w), data));
};
using Program = drx::program<drx::value_and_grad(loss), drx::array<float, 6>, drx::placed<stratum, strata>>;
}  // namespace proportional_hazards
