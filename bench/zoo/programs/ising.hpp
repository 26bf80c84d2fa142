#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace ising {
struct chains : drx::placement<chains> {};
using lattice = drx::array<float, 32, 32>;

inline constexpr auto magnetisation = [](auto heat, auto spins, auto number) {  // after 20 sweeps of Metropolis
  auto key = drx::fold_in(drx::random_key(3), number);
  auto odd =
      drx::mod(drx::iota<drx::array<std::int32_t, 32, 32>, 0>() + drx::iota<drx::array<std::int32_t, 32, 32>, 1>(), 2);
  auto half = [=](auto s, auto own, auto chosen) {
    auto around = drx::roll<1>(s) + drx::roll<-1>(s) + drx::roll<1, 1>(s) + drx::roll<-1, 1>(s);
    auto flips = chosen && drx::uniform<float, 32, 32>(own) < drx::exp(-2 * heat * s * around);
    return drx::where(flips, -s, s);
  };
  auto sweep = [=](auto i, auto s) {
    auto own = drx::fold_in(key, i);
    return half(half(s, drx::fold_in(own, 0), odd == 0), drx::fold_in(own, 1), odd == 1);
  };
  return drx::abs(drx::mean(drx::fori_loop<20>(spins, sweep)));
};
inline constexpr auto mean_magnetisation = [](auto heat, auto spins, auto numbers) {
  return drx::reduce_mean(drx::map(magnetisation, drx::broadcast<chains>(heat), spins, numbers));
};
using Program =
    drx::program<mean_magnetisation, float, drx::placed<lattice, chains>, drx::placed<std::int32_t, chains>>;
}  // namespace ising
