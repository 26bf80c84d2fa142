#pragma once
#include <drx/drx.hpp>

namespace n_body {
struct systems : drx::placement<systems> {};
using places = drx::array<float, 32, 3>;

inline constexpr auto energy = [](auto x) {  // of all pairs, softened
  auto apart = drx::reshape<32, 1, 3>(x) - x;
  return -0.5f * drx::sum(drx::rsqrt(drx::sum<2>(drx::square(apart)) + 0.01f));
};
inline constexpr auto leap = [](auto x, auto v) {  // ten steps; the energy of what comes out
  auto [end, speed] = drx::fori_loop<10>(std::pair{x, v}, [](auto state) {
    auto [p, q] = state;
    auto faster = q - 0.01f * drx::grad(energy)(p);
    return std::pair{p + 0.01f * faster, faster};
  });
  return energy(end) + 0.5f * drx::sum(drx::square(speed));
};
inline constexpr auto mean = [](auto x, auto v) { return drx::reduce_mean(drx::map(leap, x, v)); };
using Program = drx::program<mean, drx::placed<places, systems>, drx::placed<places, systems>>;
}  // namespace n_body
