#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace cloth {
struct winds : drx::placement<winds> {};
using drx::array;
using points = array<float, 3, 24, 24>;  // places, and speeds
using plane = array<float, 24, 24>;

template <int Axis>
constexpr auto springs = [](auto x, auto stiffness) {  // forces of springs of length 1 along an axis, on both ends
  auto far = drx::roll<-1, Axis>(x) - x;
  auto length = drx::sqrt(drx::sum<0>(drx::square(far), drx::keepdims) + 1e-6f);
  auto last = drx::iota<plane, Axis - 1>() < 22.5f;
  auto pull = drx::where(last, stiffness * (1 - 1 / length), 0.f) * far;
  return pull - drx::roll<1, Axis>(pull);
};
inline constexpr auto height = [](auto stiffness, auto start, auto wind) {  // after 60 steps, hung up by its first row
  auto loose = drx::cast<float>(drx::iota<plane, 0>() > 0.5f);
  auto step = [=](auto carry) {
    auto [x, v] = carry;
    auto force = springs<1>(x, stiffness) + springs<2>(x, stiffness) + drx::reshape<3, 1, 1>(wind) - 0.2f * v;
    auto faster = (v + 0.02f * force) * loose;
    return std::tuple{x + 0.02f * faster, faster};
  };
  auto x = std::get<0>(drx::fori_loop<60>(std::tuple{start, drx::zeros<points>()}, step));
  return drx::mean(drx::index<2>(x));
};
inline constexpr auto mean_height = [](auto stiffness, auto start, auto winds_of) {
  return drx::reduce_mean(drx::map(height, drx::broadcast<winds>(stiffness), drx::broadcast<winds>(start), winds_of));
};
using Program = drx::program<drx::value_and_grad<1>(mean_height), float, points, drx::placed<array<float, 3>, winds>>;
}  // namespace cloth
