#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace three_bodies {
struct crystals : drx::placement<crystals> {};
using drx::array;
using atoms = array<float, 24, 3>;

inline constexpr auto energy = [](auto stiffness,
                                  auto x) {  // Stillinger's and Weber's silicon: pairs, and angles at each atom
  auto self = drx::identity<array<float, 24, 24>>();
  auto d = drx::expand_dims<1>(x) - drx::expand_dims<0>(x);
  auto r = drx::sqrt(drx::sum<2>(drx::square(d)) + self);
  auto near = drx::cast<float>(r < 1.79f) * (1 - self);
  auto gap = drx::where(near > 0, r - 1.8f, drx::full<array<float, 24, 24>>(-1));
  auto pairs = near * 7.05f * (0.602f / drx::pow(r, 4) - 1) * drx::exp(1 / gap);
  auto reach = near * drx::exp(1.2f / gap);
  auto unit = d / drx::expand_dims<2>(r);
  auto cosines = drx::matmul(unit, drx::transpose<0, 2, 1>(unit));  // of neighbours j and k at atom i
  auto both = drx::expand_dims<2>(reach) * drx::expand_dims<1>(reach) * (1 - drx::expand_dims<0>(self));
  return drx::sum(pairs) / 2 + stiffness * drx::sum(both * drx::square(cosines + 1.f / 3)) / 2;
};
inline constexpr auto relaxed = [](auto stiffness, auto x) {  // 20 steps downhill, and the energy there
  auto end = drx::fori_loop<20>(x, [=](auto y) { return y - 0.001f * drx::grad<1>(energy)(stiffness, y); });
  return std::pair{energy(stiffness, end), end};
};
inline constexpr auto all = [](auto stiffness, auto starts) {
  auto [energies, ends] = drx::map(relaxed, drx::broadcast<crystals>(stiffness), starts);
  return std::pair{drx::reduce_mean(energies), drx::reduce_mean(ends)};
};
using Program = drx::program<all, float, drx::placed<atoms, crystals>>;
}  // namespace three_bodies
