#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace lattice_boltzmann {
struct flows : drx::placement<flows> {};
using drx::array;
using parts = array<float, 9, 64, 64>;  // of the fluid, by direction

constexpr array<float, 9> east{0, 1, 0, -1, 0, 1, -1, -1, 1}, north{0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr array<float, 9> share{4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

inline constexpr auto collide = [](auto f, auto rate) {
  auto along = [](auto v) { return drx::reshape<9, 1, 1>(v); };
  auto density = drx::sum<0>(f);
  auto u = drx::sum<0>(along(east) * f) / density, v = drx::sum<0>(along(north) * f) / density;
  auto speed = along(east) * u + along(north) * v;
  auto still = 1 - 1.5f * (u * u + v * v);
  auto rest = along(share) * density * (still + 3 * speed + 4.5f * speed * speed);
  return f + rate * (rest - f);
};
inline constexpr auto stream = [](auto f) {
  using drx::index, drx::roll;
  auto e = roll<1, 0>(index<1>(f)), n = roll<1, 1>(index<2>(f)), w = roll<-1, 0>(index<3>(f)),
       s = roll<-1, 1>(index<4>(f));
  auto ne = roll<1, 0>(roll<1, 1>(index<5>(f))), nw = roll<-1, 0>(roll<1, 1>(index<6>(f)));
  auto sw = roll<-1, 0>(roll<-1, 1>(index<7>(f))), se = roll<1, 0>(roll<-1, 1>(index<8>(f)));
  return drx::stack(index<0>(f), e, n, w, s, ne, nw, sw, se);
};
inline constexpr auto run = [](auto rate, auto start) {
  return drx::fori_loop<20>(start, [=](auto f) { return stream(collide(f, rate)); });
};
inline constexpr auto all = [](auto rate, auto starts) {
  auto speed = [](auto f) { return drx::mean(drx::square(drx::sum<0>(drx::reshape<9, 1, 1>(east) * f))); };
  auto ends = drx::map(run, drx::broadcast<flows>(rate), starts);
  return std::pair{ends, drx::reduce_mean(drx::map(speed, ends))};
};
using Program = drx::program<all, float, drx::placed<parts, flows>>;
}  // namespace lattice_boltzmann
