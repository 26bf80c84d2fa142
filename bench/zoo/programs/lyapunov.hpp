#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace lyapunov {
struct runs : drx::placement<runs> {};
using state = drx::array<double, 8>;
using frame = drx::array<double, 8, 8>;

inline constexpr auto rate = [](auto x) {  // Lorenz's system of 1996
  return (drx::roll<-1>(x) - drx::roll<2>(x)) * drx::roll<1>(x) - x + 8;
};
inline constexpr auto move = [](auto x) {  // Runge and Kutta
  auto k1 = rate(x), k2 = rate(x + 0.025 * k1), k3 = rate(x + 0.025 * k2), k4 = rate(x + 0.05 * k3);
  return x + 0.05 / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
};
inline constexpr auto growth = [](auto start) {  // of eight directions over 50 steps
  auto step = [](auto c) {
    auto [x, directions, logs] = c;
    auto push = [=](auto d) { return drx::jvp(move, x, d).second; };
    auto [q, r] = drx::qr(drx::vmap(push, drx::axis<1>, drx::axis<1>)(directions));
    return std::tuple{move(x), q, logs + drx::log(drx::abs(drx::diagonal(r)))};
  };
  auto first = std::tuple{start, drx::identity<frame>(), drx::zeros<state>()};
  return std::get<2>(drx::fori_loop<50>(first, step)) / 2.5;
};
inline constexpr auto spectrum = [](auto starts) { return drx::reduce_mean(drx::map(growth, starts)); };
using Program = drx::program<spectrum, drx::placed<state, runs>>;
}  // namespace lyapunov
