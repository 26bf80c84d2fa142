// The water of the shallow-water example moves as theory says, keeps its mass, and its adjoint is right.
#include <doctest/doctest.h>

#include <cmath>
#include <drx/run/check/check_grads.hpp>
#include <drx/run/check/interpreter.hpp>
#include <examples/shallow_water/shallow_water.hpp>
#include <numbers>
#include <vector>

namespace {

using namespace shallow_water;

constexpr sizes small{.strips = 3, .rows = 4, .columns = 12, .steps = 12, .readings = 2, .sweeps = 2};
constexpr int length = 12;  // of the basin, in both directions
static_assert(small.strips * small.rows == length && small.columns == length);
using types = programs<small>;

/// Fields of all strips from functions of the row and the column, in cells from the middle of the first.
template <class Water = types::water, class Depth, class U, class V>
std::vector<Water> fields(Depth depth, U u, V v) {
  std::vector<Water> all(small.strips);
  for (int row = 0; row < length; ++row) {
    for (int column = 0; column < length; ++column) {
      auto& w = all[static_cast<std::size_t>(row / small.rows)];
      w(0, row % small.rows, column) = depth(row, column);
      w(1, row % small.rows, column) = u(row, column - 0.5);
      w(2, row % small.rows, column) = v(row - 0.5, column);
    }
  }
  return all;
}
std::vector<types::water> rough() {
  return fields([](double y, double x) { return 100 + 5 * std::sin(1.3 * y + 0.7 * x); },
                [](double y, double x) { return 3 * std::cos(2.1 * y - x); },
                [](double y, double x) { return 3 * std::sin(0.4 * y * x); });
}
std::vector<types::places> some_places() {
  std::vector<types::places> all(small.strips);
  int k = 0;
  for (auto& places : all)
    for (auto& p : places) p = 17 * ++k % (small.rows * small.columns);
  return all;
}

double most_different(const std::vector<types::water>& a, const std::vector<types::water>& b) {
  double most = 0;
  for (std::size_t s = 0; s < a.size(); ++s)
    for (std::int64_t k = 0; k < a[s].size; ++k) most = harness::larger(most, std::abs(a[s][k] - b[s][k]));
  return most;
}

}  // namespace
