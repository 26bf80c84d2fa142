#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace portfolio {
struct markets : drx::placement<markets> {};
constexpr int assets = 20;
using weights = drx::array<float, assets>;
using history = drx::array<float, 60, assets>;

inline constexpr auto projected = [](auto x) {  // onto the simplex
  auto sorted = drx::flip<0>(drx::sort(x));
  auto count = drx::iota<weights>() + 1;
  auto over = (drx::cumsum(sorted) - 1) / count;
  auto inside = drx::sum(drx::cast<int>(sorted > over));
  return drx::relu(x - drx::index(over, inside - 1));
};
inline constexpr auto value = [](auto caution, auto past, auto next) {  // of the best weights, in the month that comes
  auto mean = drx::mean<0>(past), off = past - mean;
  auto covariance = drx::matmul(drx::transpose(off), off) * (1 / 60.f);
  auto best = drx::fori_loop<30>(drx::full<weights>(1.f / assets), [=](auto w) {
    return projected(w + 0.2f * (mean - caution * drx::matmul(covariance, w)));
  });
  return drx::dot(best, next);
};
inline constexpr auto mean_value = [](auto caution, auto past, auto next) {
  return drx::reduce_mean(drx::map(value, drx::broadcast<markets>(drx::exp(caution)), past, next));
};
using Program =
    drx::program<drx::value_and_grad(mean_value), float, drx::placed<history, markets>, drx::placed<weights, markets>>;
}  // namespace portfolio
