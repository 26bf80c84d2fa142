#pragma once
#include <drx/drx.hpp>

namespace belief_propagation {
struct grids : drx::placement<grids> {};
using grid = drx::array<float, 32, 32>;

inline constexpr auto of_neighbours = [](auto m) {  // the sum over four neighbours; there are none beyond the border
  auto p = drx::pad<drx::padding<1>, drx::padding<1>>(m);
  using drx::range;
  return drx::slice<range<0, 32>, range<1, 33>>(p) + drx::slice<range<2, 34>, range<1, 33>>(p) +
         drx::slice<range<1, 33>, range<0, 32>>(p) + drx::slice<range<1, 33>, range<2, 34>>(p);
};
inline constexpr auto free_energy = [](auto coupling, auto field) {  // of an Ising model, by its mean field
  auto m = drx::fori_loop<20>(drx::zeros<grid>(),
                              [=](auto m) { return 0.5f * m + 0.5f * drx::tanh(coupling * of_neighbours(m) + field); });
  auto up = 0.5f * (1 + m), down = 0.5f * (1 - m);
  auto energy = -drx::sum(m * (0.5f * coupling * of_neighbours(m) + field));
  return energy + drx::sum(up * drx::log(up) + down * drx::log(down));
};
inline constexpr auto loss = [](auto coupling, auto fields) {
  return drx::reduce_mean(drx::map(free_energy, drx::broadcast<grids>(coupling), fields));
};
using Program = drx::program<drx::value_and_grad(loss), float, drx::placed<grid, grids>>;
}  // namespace belief_propagation
