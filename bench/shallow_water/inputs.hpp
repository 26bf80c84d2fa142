// bench/shallow_water/inputs.hpp: the water at the beginning, and the cells whose depth is read.
#pragma once

#include <harness.hpp>

#include "../../examples/shallow_water/shallow_water.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace shallow_water::bench_inputs {

inline constexpr sizes grid{.strips = 8, .rows = 16, .columns = 128, .steps = 60, .readings = 8, .sweeps = 1};
using types = programs<grid>;

/// A strip's water: two waves of depth, at rest but for small velocities.
inline types::water water_of(std::int64_t strip) {
  types::water w;
  constexpr double turn = 2 * std::numbers::pi;
  for (int i = 0; i < grid.rows; ++i)
    for (int j = 0; j < grid.columns; ++j) {
      const double y = (static_cast<double>(strip) * grid.rows + i) / (grid.strips * grid.rows);
      const double x = static_cast<double>(j) / grid.columns;
      double* const at = w.data() + i * grid.columns + j;
      constexpr int field = grid.rows * grid.columns;
      at[0] = 100 + std::sin(turn * (x + 2 * y)) + 0.5 * std::cos(turn * (3 * x - y));
      at[field] = 0.1 * std::sin(turn * y);
      at[2 * field] = 0.1 * std::cos(turn * 2 * x);
    }
  return w;
}
/// The cells that are read of a strip.
inline types::places places_of(std::int64_t strip) {
  types::places p;
  std::uint32_t i = static_cast<std::uint32_t>(strip * types::places::size);
  for (auto& cell : p) cell = static_cast<std::int32_t>(bench::hash(1, i++) % (grid.rows * grid.columns));
  return p;
}

}  // namespace shallow_water::bench_inputs
