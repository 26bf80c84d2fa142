#pragma once
#include <drx/drx.hpp>

#include <cstdint>
#include <utility>

namespace plasma {
struct beams : drx::placement<beams> {};
using particles = drx::array<float, 1024>;
using cells = drx::array<float, 64>;

inline constexpr auto field_of = [](auto left, auto share) {  // charges to the nearest two cells, and the field's sum
  auto right = (left + 1) % 64;
  auto charge = drx::scatter_add(drx::scatter_add(drx::zeros<cells>(), left, 1 - share), right, share);
  auto field = drx::cumsum<0>(1 - charge / 16);
  return field - drx::mean(field);
};
inline constexpr auto run = [](auto push, auto from, auto speeds) {  // 30 leapfrog steps on a ring of 64 cells
  auto step = [=](auto c) {
    auto [x, v, energy] = c;
    auto below = drx::floor(x);
    auto left = drx::cast<std::int32_t>(below) % 64;
    auto share = x - below;
    auto e = field_of(left, share);
    auto force = (1 - share) * drx::take(e, left) + share * drx::take(e, (left + 1) % 64);
    auto speed = v - push * force;
    auto to = drx::mod(x + speed, 64);
    return std::tuple{drx::where(to < 64, to, 0), speed, energy + drx::mean(drx::square(e))};
  };
  return std::get<2>(drx::fori_loop<30>(std::tuple{from, speeds, 0 * push}, step));
};
inline constexpr auto energy = [](auto push, auto x, auto v) {
  return drx::reduce_mean(drx::map(run, drx::broadcast<beams>(push), x, v));
};
using Program =
    drx::program<drx::value_and_grad(energy), float, drx::placed<particles, beams>, drx::placed<particles, beams>>;
}  // namespace plasma
