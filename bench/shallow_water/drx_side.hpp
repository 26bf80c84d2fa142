// bench/shallow_water/drx_side.hpp: the example's forecast, and the derivative of how far it is from wanted depths.
#pragma once

#include "../../examples/shallow_water/shallow_water.hpp"
#include "inputs.hpp"

namespace shallow_water::bench {

inline constexpr sizes in_strips{
    .strips = strips, .rows = rows / strips, .columns = columns, .steps = steps, .readings = 0, .sweeps = 0};
using strip_of_water = drx::array<double, 3, in_strips.rows, in_strips.columns>;
using depths = drx::array<double, in_strips.rows, in_strips.columns>;

inline constexpr auto end_of = [](auto water) {
  return drx::fori_loop<steps>(water, step<in_strips>, drx::checkpoint_every<every>);
};
inline constexpr auto ends = [](auto water) { return drx::map(end_of, water); };
inline constexpr auto misfit = [](auto water, auto wanted) {
  auto of_strip = [](auto start, auto goal) { return drx::mean(drx::square(drx::index<0>(end_of(start)) - goal)); };
  return drx::reduce_mean(drx::map(of_strip, water, wanted));
};
using placed_water = drx::placed<strip_of_water, shallow_water::strips>;
using Forecast = drx::program<ends, placed_water>;
using Slope = drx::program<drx::value_and_grad(misfit), placed_water, drx::placed<depths, shallow_water::strips>>;

}  // namespace shallow_water::bench
