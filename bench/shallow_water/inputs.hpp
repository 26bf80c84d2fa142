// bench/shallow_water/inputs.hpp: the water at the beginning, and the depths that are wanted at the end.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace shallow_water::bench {

inline constexpr int rows = 256, columns = 256, strips = 8, steps = 40, every = 10;

/// The depth, the velocity to the east, and the one to the north, or (field 3) the wanted depth, of a cell. jax_twin.py
/// has the same.
inline double water_at(int field, int row, int column) {
  const double turn = 2 * std::numbers::pi, y = turn * row / rows, x = turn * column / columns;
  switch (field) {
    case 0: return 100 + 5 * std::sin(2 * y + x) + 3 * std::cos(3 * x);
    case 1: return std::sin(y + 2 * x);
    case 2: return std::cos(3 * y - x);
    default: return 100 + 5 * std::sin(y + 2 * x);
  }
}

}  // namespace shallow_water::bench
