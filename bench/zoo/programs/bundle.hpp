#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace bundle {
struct cameras : drx::placement<cameras> {};
using pose = drx::array<double, 6>;
using points = drx::array<double, 40, 3>;
using pixels = drx::array<double, 40, 2>;

inline constexpr auto project = [](auto where, auto x) {  // Rodrigues' rotation, a shift, a lens with distortion
  auto turn = drx::slice<0, 3>(where), shift = drx::slice<3, 6>(where);
  auto angle = drx::sqrt(drx::dot(turn, turn) + 1e-12);
  auto k = turn / angle;
  auto a = drx::index<0>(k), b = drx::index<1>(k), c = drx::index<2>(k), zero = 0 * a;
  auto cross = drx::reshape<3, 3>(drx::stack(zero, -c, b, c, zero, -a, -b, a, zero));
  auto rotation = drx::identity<drx::array<double, 3, 3>>() + drx::sin(angle) * cross +
                  (1 - drx::cos(angle)) * drx::matmul(cross, cross);
  auto seen = drx::matmul(x, drx::transpose(rotation)) + shift;
  auto flat = drx::slice<drx::all, drx::range<0, 2>>(seen) / drx::slice<drx::all, drx::range<2, 3>>(seen);
  return flat * (1 + 0.1 * drx::sum<1>(drx::square(flat), drx::keepdims));
};
inline constexpr auto step = [](auto where, auto x, auto wanted) {  // of Gauss and Newton
  auto off = [=](auto p) { return drx::reshape<80>(project(p, x) - wanted); };
  auto j = drx::jacfwd(off)(where);
  auto r = off(where);
  auto system = drx::matmul(drx::transpose(j), j) + 1e-6 * drx::identity<drx::array<double, 6, 6>>();
  return std::pair{where - drx::solve(system, drx::matmul(drx::transpose(j), r)), drx::dot(r, r)};
};
inline constexpr auto all = [](auto x, auto poses, auto seen) {
  auto [next, errors] = drx::map(step, poses, drx::broadcast<cameras>(x), seen);
  return std::pair{next, drx::reduce_mean(errors)};
};
using Program = drx::program<all, points, drx::placed<pose, cameras>, drx::placed<pixels, cameras>>;
}  // namespace bundle
