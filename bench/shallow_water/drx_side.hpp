// bench/shallow_water/drx_side.hpp: the forecast of examples/shallow_water, and the gradient of the mean square of the
// depths that are read, by the water at the beginning.
#pragma once

#include "inputs.hpp"

#include <drx/run.hpp>

#include <utility>

namespace shallow_water::program {

using bench_inputs::grid, bench_inputs::types;

inline constexpr auto forecast_all = [](auto water, auto places) {
  auto [end, depths] = drx::map(forecast<grid>, water, places);
  return std::pair{end, drx::reduce_sum(drx::map([](auto x) { return drx::sum(x); }, depths))};
};
/// The mean square of what is read, as a strip's part of it, and its slope.
template <drx::loop_memory Kept>
inline constexpr auto slope_of_strip = [](auto water, auto places) {
  auto squares = [=](auto from) { return drx::mean(drx::square(forecast<grid, Kept>(from, places).second - 100)); };
  return drx::value_and_grad(squares)(water);
};
template <drx::loop_memory Kept>
inline constexpr auto slope_of_all = [](auto water, auto places) {
  auto [squares, slope] = drx::map(slope_of_strip<Kept>, water, places);
  return std::pair{drx::reduce_mean(squares), slope};
};
using Forecast = drx::program<forecast_all, drx::placed<types::water, strips>, drx::placed<types::places, strips>>;
template <drx::loop_memory Kept>
using SlopeThat =
    drx::program<slope_of_all<Kept>, drx::placed<types::water, strips>, drx::placed<types::places, strips>>;
using Slope = SlopeThat<drx::keep_carries>;
using SlopeOfTenth = SlopeThat<drx::checkpoint_every<10>>;

}  // namespace shallow_water::program
