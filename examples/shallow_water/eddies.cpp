#include "eddies.hpp"

#include <cmath>

#include "../common/random.hpp"

namespace shallow_water {

using examples::purpose, examples::random_stream;

namespace {

constexpr int all_rows = size.strips * size.rows;
constexpr double mean_depth = 100;  // m

/// The way between two places on a line that closes after `length`.
double apart(double from, double to, double length) { return std::remainder(to - from, length); }

double height(const eddy& e, double row, double column) {
  const double y = apart(e.row, row, all_rows), x = apart(e.column, column, size.columns);
  return e.height * std::exp(-0.5 * (x * x + y * y) / (e.radius * e.radius));
}

}  // namespace

std::vector<eddy> true_eddies(std::uint64_t seed) {
  random_stream random(seed, purpose::eddies);
  std::vector<eddy> all;
  for (int k = 0; k < 6; ++k) {
    const double row = all_rows * random.uniform(), column = size.columns * random.uniform();
    const double radius = 4 + 3 * random.uniform(), most = 3 + 4 * random.uniform();
    all.push_back({row, column, radius, k % 2 == 0 ? most : -most, k < 5});
  }
  all.back().height = 5;
  return all;
}

std::vector<eddy> guessed_eddies(std::uint64_t seed) {
  auto all = true_eddies(seed);
  all.pop_back();
  random_stream random(seed, purpose::eddies, {1});
  for (eddy& e : all) {
    e.row += 3 * random.normal();
    e.column += 3 * random.normal();
    e.height *= 0.5 + 0.7 * random.uniform();
  }
  return all;
}

water water_of(const std::vector<eddy>& eddies, std::int64_t strip) {
  water w{};
  for (int i = 0; i < size.rows; ++i) {
    for (int j = 0; j < size.columns; ++j) {
      const double row = static_cast<double>(strip * size.rows + i), column = j;
      double& depth = w(0, i, j) = mean_depth;
      for (const eddy& e : eddies) {
        depth += height(e, row, column);
        if (!e.turns) continue;
        // Coriolis' force and the slope of the surface are equal. u lies half a cell to the west, v to the south.
        const double of_slope = gravity / rotation / cell;
        w(1, i, j) -= of_slope * (height(e, row + 0.5, column - 0.5) - height(e, row - 0.5, column - 0.5));
        w(2, i, j) += of_slope * (height(e, row - 0.5, column + 0.5) - height(e, row - 0.5, column - 0.5));
      }
    }
  }
  return w;
}

}  // namespace shallow_water
