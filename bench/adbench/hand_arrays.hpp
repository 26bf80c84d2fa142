// Hand tracking (hand.hpp) as a program of arrays: the hand is posed once, measured points are placed.
#pragma once

#include "rotation_arrays.hpp"

#include <cstdint>
#include <tuple>
#include <utility>

namespace adbench {

struct measurements : drx::placement<measurements> {};

/// Base poses of the bones relative to their parents, and inverse poses of the hand at rest, 4 x 4 each.
template <std::int64_t Fingers>
using skeleton = std::tuple<drx::array<double, 2 + 4 * Fingers, 4, 4>, drx::array<double, 2 + 4 * Fingers, 4, 4>>;
/// A measured point, its place in a triangle of the skin, the triangle's corners and the bones' weights there.
template <std::int64_t Fingers>
using measurement = std::tuple<drx::array<double, 3>, drx::array<double, 2>, drx::array<double, 3, 3>,
                               drx::array<double, 3, 2 + 4 * Fingers>>;

/// The maps from the hand at rest to each bone of the posed hand, 3 x 4; theta as in `hand`, without the place in a
/// triangle.
template <std::int64_t F>
inline constexpr auto posed = [](auto theta, auto bones) {
  auto [base, inverse] = bones;
  auto angles = drx::transpose(drx::reshape<F, 4>(drx::slice<6, 6 + 4 * F>(theta)));  // bend, spread, bend, bend
  auto o = drx::zeros<drx::array<double, 4, F>>(), one = drx::ones<drx::array<double, 4, F>>();
  auto bend =
      drx::concatenate(drx::slice<0, 1>(angles), drx::slice<2, 4>(angles), drx::zeros<drx::array<double, 1, F>>());
  auto spread = drx::concatenate(drx::slice<1, 2>(angles), drx::zeros<drx::array<double, 3, F>>());
  auto cx = drx::cos(bend), sx = drx::sin(bend), cz = drx::cos(spread), sz = drx::sin(spread);
  auto turned = drx::stack<-1>(cz, -sz * cx, sz * sx, o, sz, cz * cx, -cz * sx, o, o, sx, cx, o, o, o, o, one);
  auto own = drx::matmul(drx::reshape<4, F, 4, 4>(drx::slice<2, 2 + 4 * F>(base)), drx::reshape<4, F, 4, 4>(turned));
  auto forearm = drx::index<0>(base), palm = drx::matmul(forearm, drx::index<1>(base));
  auto along = [](auto parents, auto joint) {
    auto here = drx::matmul(parents, joint);
    return std::pair{here, here};
  };
  auto [tips, joints] = drx::scan(along, drx::broadcast_to<F, 4, 4>(palm), own);
  auto absolute = drx::concatenate(drx::stack(forearm, palm), drx::reshape<4 * F, 4, 4>(joints));
  auto whole = drx::concatenate<1>(rotation(drx::slice<0, 3>(theta)), drx::reshape<3, 1>(drx::slice<3, 6>(theta)));
  return drx::matmul(whole, drx::matmul(absolute, inverse));
};

/// The distance of the measured point from the skin. (The weights of each corner add up to 1.)
inline constexpr auto distance_from_skin = [](auto poses, auto u, auto m) {
  auto [point, start, corners, weights] = m;
  auto shares = drx::concatenate(u, drx::reshape<1>(1 - drx::sum(u)));
  auto homogeneous = drx::concatenate<1>(corners, drx::ones<drx::array<double, 3, 1>>());
  auto of_bones = drx::matmul(drx::transpose(weights * drx::reshape<3, 1>(shares)), homogeneous);
  constexpr auto bones = decltype(of_bones)::shape[0];
  return point - drx::sum<0, 2>(poses * drx::reshape<bones, 1, 4>(of_bones));
};

/// For each measurement its distance and the Jacobians with respect to theta, 3 x (6 + 4 F), and to its place in the
/// triangle, 3 x 2. The hand's own Jacobian is taken once; each measurement pushes its columns on.
template <std::int64_t F>
inline constexpr auto hand_jacobians = [](auto theta, auto bones, auto measured) {
  auto poses = posed<F>(theta, bones);
  auto columns = drx::jacfwd(posed<F>)(theta, bones);
  return drx::map(
      [=](auto m) {
        auto u = std::get<1>(m);
        auto of_poses = [=](auto p) { return distance_from_skin(p, u, m); };
        auto of_place = [=](auto v) { return distance_from_skin(poses, v, m); };
        auto push = [=](auto column) { return drx::jvp(of_poses, poses, column).second; };
        return std::tuple{of_poses(poses), drx::vmap(push, std::tuple{drx::axis<3>}, drx::axis<1>)(columns),
                          drx::jacfwd(of_place)(u)};
      },
      measured);
};
template <std::int64_t F>
using hand_program = drx::program<hand_jacobians<F>, drx::array<double, 6 + 4 * F>, skeleton<F>,
                                  drx::placed<measurement<F>, measurements>>;

}  // namespace adbench
