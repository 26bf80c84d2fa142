#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace tops {
struct bodies : drx::placement<bodies> {};
using vec3 = drx::array<double, 3>;
using vec4 = drx::array<double, 4>;

inline constexpr auto cross = [](auto a, auto b) {
  return drx::roll<-1>(a) * drx::roll<1>(b) - drx::roll<1>(a) * drx::roll<-1>(b);
};
inline constexpr auto motion = [](auto inertia, auto state) {  // of the quaternion and of the spin in the body's frame
  auto [q, spin] = state;
  auto w = drx::index<0>(q);
  auto v = drx::slice<1, 4>(q);
  auto turn = drx::concatenate(drx::reshape<1>(-drx::dot(v, spin)), w * spin + cross(v, spin));
  return std::tuple{0.5 * turn, cross(inertia * spin, spin) / inertia};
};
inline constexpr auto after = [](auto inertia, auto q, auto spin) {  // 50 steps of Runge and Kutta
  auto step = [=](auto s) {
    auto a = motion(inertia, s), b = motion(inertia, s + 0.01 * a), c = motion(inertia, s + 0.01 * b);
    auto [next, spinning] = s + 0.02 / 6 * (a + 2 * b + 2 * c + motion(inertia, s + 0.02 * c));
    return std::tuple{next / drx::norm(next), spinning};
  };
  return drx::fori_loop<50>(std::tuple{q, spin}, step);
};
inline constexpr auto sensitivities = [](auto inertia, auto q, auto spin) {  // by the spin at the start
  auto own = [](auto i, auto at, auto w) { return std::pair{after(i, at, w), drx::jacfwd<2>(after)(i, at, w)}; };
  return drx::map(own, inertia, q, spin);
};
using Program =
    drx::program<sensitivities, drx::placed<vec3, bodies>, drx::placed<vec4, bodies>, drx::placed<vec3, bodies>>;
}  // namespace tops
