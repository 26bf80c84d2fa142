#pragma once
#include <drx/drx.hpp>

namespace hyperbolic {
struct words : drx::placement<words> {};
using table = drx::array<float, 500, 8>;  // points of Poincare's ball

inline constexpr auto distance = [](auto x, auto y) {  // x: one point, y: rows
  auto apart = drx::sum<1>(drx::square(x - y));
  auto room = (1 - drx::dot(x, x)) * (1 - drx::sum<1>(drx::square(y)));
  return drx::acosh(1 + 2 * apart / room);
};
inline constexpr auto error = [](auto points, auto word, auto others) {  // the first of the others is its parent
  auto far = distance(drx::index(points, word), drx::take(points, others));
  return drx::logsumexp(-far) + drx::index<0>(far);
};
inline constexpr auto loss = [](auto points, auto word, auto others) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<words>(points), word, others));
};
using Program = drx::program<drx::value_and_grad(loss), table, drx::placed<std::int32_t, words>,
                             drx::placed<drx::array<std::int32_t, 10>, words>>;
}  // namespace hyperbolic
