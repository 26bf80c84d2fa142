// shallow_water/eddies.hpp: the true water, which nobody knows, and the first guess: eddies in random places.
#pragma once

#include <cstdint>
#include <vector>

#include "shallow_water.hpp"

namespace shallow_water {

using water = programs<size>::water;

/// A hill or a hollow of the surface. The water turns around it as fast as keeps it in place, or is at rest, so that it
/// runs apart in waves.
struct eddy {
  double row, column, radius;  // in cells
  double height;               // m
  bool turns;
};

/// Five eddies that turn, and a hill at rest.
[[nodiscard]] std::vector<eddy> true_eddies(std::uint64_t seed);
/// The same as somebody guesses them: in other places, of other heights, and without the hill.
[[nodiscard]] std::vector<eddy> guessed_eddies(std::uint64_t seed);

/// The water of a strip.
[[nodiscard]] water water_of(const std::vector<eddy>& eddies, std::int64_t strip);

}  // namespace shallow_water
