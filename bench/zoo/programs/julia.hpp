#pragma once
#include <drx/drx.hpp>

namespace julia {
struct points : drx::placement<points> {};
using point = drx::array<double, 2>;

inline constexpr auto steps_to_leave = [](auto c, auto z) {  // z^2 + c from z on, until it leaves; 200 at most
  auto inside = [](auto at) { return drx::sum(drx::square(at.first)) < 4; };
  auto step = [=](auto at) {
    auto x = drx::index<0>(at.first), y = drx::index<1>(at.first);
    return std::pair{drx::stack(x * x - y * y, 2 * x * y) + c, at.second + 1};
  };
  return drx::while_loop<200>(inside, step, std::pair{z, drx::zeros<drx::scalar<int>>()}).second;
};
inline constexpr auto picture = [](auto c, auto starts) {
  return drx::map(steps_to_leave, drx::broadcast<points>(c), starts);
};
inline constexpr auto sum_of_counts = [](auto c, auto starts) {
  auto counts = picture(c, starts);
  return std::pair{drx::reduce_sum(counts), drx::reduce_max(counts)};
};
using Program = drx::program<sum_of_counts, point, drx::placed<point, points>>;
}  // namespace julia
