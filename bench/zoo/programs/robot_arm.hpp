#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace robot_arm {
struct arms : drx::placement<arms> {};
using drx::array;
using angles = array<double, 6>;
using pose = array<double, 4, 4>;  // a rotation and a position
inline constexpr pose along{{1., 0., 0., 0.}, {0., 1., 0., 0.}, {0., 0., 0., 0.}, {0., 0., 0., 0.}};
inline constexpr pose across{{0., -1., 0., 0.}, {1., 0., 0., 0.}, {0., 0., 0., 0.}, {0., 0., 0., 0.}};
inline constexpr pose still{{0., 0., 0., 0.}, {0., 0., 0., 0.}, {0., 0., 1., 0.}, {0., 0., 0., 1.}};

inline constexpr auto hand = [](auto links, auto turns) {  // each joint turns around its z axis, then a link follows
  auto joint = [](auto at, auto inputs) {
    auto [link, turn] = inputs;
    auto rotation = drx::cos(turn) * along + drx::sin(turn) * across + still;
    return std::pair{drx::matmul(drx::matmul(at, rotation), link), std::tuple{}};
  };
  return drx::scan(joint, drx::identity<pose>(), std::pair{links, turns}).first;
};
inline constexpr auto error = [](auto damping, auto links, auto start, auto wanted) {  // after three damped steps
  auto off = [=](auto turns) { return drx::reshape<12>(drx::slice<0, 3>(hand(links, turns) - wanted)); };
  auto step = [=](auto turns) {
    auto j = drx::jacfwd(off)(turns);
    auto jt = drx::transpose(j);
    return turns -
           drx::solve(drx::matmul(jt, j) + damping * drx::identity<array<double, 6, 6>>(), drx::matmul(jt, off(turns)));
  };
  return drx::mean(drx::square(off(drx::fori_loop<3>(start, step))));
};
inline constexpr auto loss = [](auto damping, auto links, auto starts, auto wanted) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<arms>(damping), drx::broadcast<arms>(links), starts, wanted));
};
using Program = drx::program<drx::value_and_grad(loss), double, array<double, 6, 4, 4>, drx::placed<angles, arms>,
                             drx::placed<pose, arms>>;
}  // namespace robot_arm
