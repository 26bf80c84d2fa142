#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace mixture {
struct points : drx::placement<points> {};
using parts = drx::array<float, 8, 4>;  // 8 Gaussians with diagonal covariances, in 4 dimensions

inline constexpr auto likelihood = [](auto model, auto x) {
  auto [logits, mean, log_scale] = model;
  auto z = (x - mean) * drx::exp(-log_scale);
  return drx::logsumexp(drx::log_softmax(logits) - drx::sum<1>(0.5f * drx::square(z) + log_scale));
};
inline constexpr auto loss = [](auto model, auto data) {
  return -drx::reduce_mean(drx::map(likelihood, drx::broadcast<points>(model), data));
};
using Program = drx::program<drx::value_and_grad(loss), std::tuple<drx::array<float, 8>, parts, parts>,
                             drx::placed<drx::array<float, 4>, points>>;
}  // namespace mixture
