#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace hamiltonian {
struct chains : drx::placement<chains> {};
using point = drx::array<float, 10>;

inline constexpr auto energy = [](auto x) {  // Neal's funnel
  auto v = drx::index<0>(x);
  return drx::square(v) / 18 + 0.5f * drx::exp(-v) * drx::sum(drx::square(drx::slice<1, 10>(x))) + 4.5f * v;
};
inline constexpr auto sample = [](auto x, auto i) {  // eight steps of Hamiltonian Monte Carlo
  auto move = [=](auto k, auto place) {
    auto key = drx::fold_in(drx::fold_in(drx::random_key(5), i), k);
    auto p = drx::normal<float, 10>(key);
    auto leap = [](auto state) {
      auto [q, speed] = state;
      auto half = speed - 0.05f * drx::grad(energy)(q), next = q + 0.1f * half;
      return std::pair{next, half - 0.05f * drx::grad(energy)(next)};
    };
    auto [q, speed] = drx::fori_loop<10>(std::pair{place, p}, leap);
    auto gain = energy(place) - energy(q) + 0.5f * (drx::dot(p, p) - drx::dot(speed, speed));
    auto u = drx::index<0>(drx::uniform<float, 1>(drx::fold_in(key, 1)));
    return drx::where(drx::log(u) < gain, q, place);
  };
  return drx::fori_loop<8>(x, move);
};
inline constexpr auto mean = [](auto x, auto i) { return drx::reduce_mean(drx::map(sample, x, i)); };
using Program = drx::program<mean, drx::placed<point, chains>, drx::placed<std::int32_t, chains>>;
}  // namespace hamiltonian
