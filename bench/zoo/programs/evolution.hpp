#pragma once
#include <drx/drx.hpp>

namespace evolution {
struct pairs : drx::placement<pairs> {};
using point = drx::array<float, 32>;

inline constexpr auto rosenbrock = [](auto x) {
  auto head = drx::slice<0, 31>(x), tail = drx::slice<1, 32>(x);
  return drx::sum(100 * drx::square(tail - drx::square(head)) + drx::square(1 - head));
};
inline constexpr auto direction = [](auto x, auto i) {  // by two points on both sides of x
  auto noise = drx::normal<float, 32>(drx::fold_in(drx::random_key(7), i));
  return noise * (rosenbrock(x + 0.05f * noise) - rosenbrock(x - 0.05f * noise)) / 0.1f;
};
inline constexpr auto step = [](auto x, auto i) {
  return x - 1e-4f * drx::reduce_mean(drx::map(direction, drx::broadcast<pairs>(x), i));
};
using Program = drx::program<step, point, drx::placed<std::int32_t, pairs>>;
}  // namespace evolution
