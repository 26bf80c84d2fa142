#pragma once
#include <drx/drx.hpp>

#include <cstdint>

namespace embedded_atoms {
struct atoms : drx::placement<atoms> {};
using positions = drx::array<double, 1200, 3>;
using neighbours = drx::array<std::int32_t, 40>;  // those within a radius a little larger than the cutoff

inline constexpr auto energy_of = [](auto all, auto self, auto near) {  // Sutton and Chen's, cut off smoothly at 1.8
  auto apart = drx::take(all, near) - drx::index(all, self);
  auto r2 = drx::sum<1>(drx::square(apart));
  auto inside = drx::max(1 - r2 * (1 / 3.24), 0.0);
  auto smooth = drx::square(inside);
  auto r3 = r2 * drx::sqrt(r2);
  auto pairs = smooth / drx::square(r3), density = smooth / r3;
  return 0.5 * drx::sum(pairs) - 1.3 * drx::sqrt(drx::sum(density) + 1e-9);
};
inline constexpr auto energy = [](auto all, auto lists) {
  return drx::reduce_sum(drx::map(energy_of, drx::broadcast<atoms>(all), drx::partition_index<atoms>(), lists));
};
using Program = drx::program<drx::value_and_grad(energy), positions, drx::placed<neighbours, atoms>>;
}  // namespace embedded_atoms
