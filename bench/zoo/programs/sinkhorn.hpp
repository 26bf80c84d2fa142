#pragma once
#include <drx/drx.hpp>

namespace sinkhorn {
struct pairs : drx::placement<pairs> {};
using cloud = drx::array<float, 64, 3>;

inline constexpr auto cost_of = [](auto x, auto y) {  // squared distances, {64, 64}
  return drx::sum<2>(drx::square(drx::expand_dims<1>(x) - drx::expand_dims<0>(y)));
};
inline constexpr auto distance = [](auto width, auto x, auto y) {  // the cost of the plan after 20 steps
  auto cost = cost_of(x, y);
  auto kernel = drx::exp(-cost / width);
  auto u = drx::fori_loop<20>(drx::ones<drx::array<float, 64>>(), [=](auto u) {
    auto v = 1 / drx::matmul(u, kernel);
    return 1 / drx::matmul(kernel, v);
  });
  auto v = 1 / drx::matmul(u, kernel);
  return drx::sum(drx::matmul(u, kernel * cost) * v) / 64;
};
inline constexpr auto loss = [](auto width, auto x, auto y) {
  return drx::reduce_mean(drx::map(distance, drx::broadcast<pairs>(width), x, y));
};
using Program =
    drx::program<drx::value_and_grad<0, 1>(loss), float, drx::placed<cloud, pairs>, drx::placed<cloud, pairs>>;
}  // namespace sinkhorn
