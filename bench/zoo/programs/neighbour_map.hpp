#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace neighbour_map {
struct sets : drx::placement<sets> {};
using points = drx::array<float, 96, 2>;
using pairs = drx::array<float, 96, 96>;

inline constexpr auto kernel = [](auto y) {  // Student's t with one degree of freedom, for each pair of two points
  auto d = drx::expand_dims<1>(y) - drx::expand_dims<0>(y);
  return (1 - drx::identity<pairs>()) / (1 + drx::sum<2>(drx::square(d)));
};
inline constexpr auto divergence = [](auto y, auto p) {
  auto k = kernel(y);
  return drx::sum(p * (drx::log(p + 1e-9f) - drx::log(k / drx::sum(k) + 1e-9f)));
};
inline constexpr auto map_of = [](auto rate, auto y, auto p) {  // 30 steps of t-SNE with momentum
  auto step = [=](auto c) {
    auto [at, speed] = c;
    auto next = 0.8f * speed - rate * drx::grad<0>(divergence)(at, p);
    return std::pair{at + next, next};
  };
  auto end = drx::fori_loop<30>(std::pair{y, drx::zeros<points>()}, step).first;
  return std::pair{divergence(end, p), end};
};
inline constexpr auto maps = [](auto rate, auto starts, auto near) {
  auto [errors, ends] = drx::map(map_of, drx::broadcast<sets>(rate), starts, near);
  return std::pair{drx::reduce_mean(errors), drx::reduce_mean(ends)};
};
using Program = drx::program<maps, float, drx::placed<points, sets>, drx::placed<pairs, sets>>;
}  // namespace neighbour_map
