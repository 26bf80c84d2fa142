#pragma once
#include <drx/drx.hpp>

namespace stein {
struct tasks : drx::placement<tasks> {};
using particles = drx::array<float, 64, 4>;
using rows = drx::array<float, 20, 4>;
using labels = drx::array<float, 20>;

inline constexpr auto log_density = [](auto w, auto x, auto y) {  // a logistic regression of 20 rows
  auto logits = drx::matmul(x, w);
  return drx::sum(y * logits - drx::softplus(logits)) - 0.5f * drx::dot(w, w);
};
inline constexpr auto moved = [](auto start, auto x, auto y) {  // Stein's variational gradient descent, ten steps
  auto step = [=](auto all) {
    auto slope_at = [=](auto w) { return drx::grad([=](auto v) { return log_density(v, x, y); })(w); };
    auto slopes = drx::vmap(slope_at)(all);
    auto apart = drx::expand_dims<1>(all) - drx::expand_dims<0>(all);
    auto kernel = drx::exp(-drx::sum<2>(drx::square(apart)));
    auto push = drx::matmul(kernel, slopes) + 2 * drx::sum<1>(drx::expand_dims<2>(kernel) * apart);
    return all + (0.05f / 64) * push;
  };
  return drx::fori_loop<10>(start, step);
};
inline constexpr auto means = [](auto start, auto x, auto y) {
  auto ends = drx::map(moved, drx::broadcast<tasks>(start), x, y);
  return drx::reduce_mean(ends);
};
using Program = drx::program<means, particles, drx::placed<rows, tasks>, drx::placed<labels, tasks>>;
}  // namespace stein
