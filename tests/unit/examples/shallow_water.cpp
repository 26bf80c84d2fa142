// The water of the shallow-water example moves as theory says, keeps its mass, and its adjoint is right.
#include <doctest/doctest.h>

#include <cmath>
#include <drx/run/check/check_grads.hpp>
#include <drx/run/check/interpreter.hpp>
#include <examples/shallow_water/shallow_water.hpp>
#include <numbers>
#include <numeric>
#include <vector>

#include "harness/difference.hpp"

namespace {

using namespace shallow_water;

constexpr int length = 12;  // of the basin, in both directions
constexpr double of_cell = 2 * std::numbers::pi / length;
constexpr sizes small{.strips = 3, .rows = 4, .columns = length, .steps = 10, .readings = 2, .sweeps = 2};
static_assert(small.strips * small.rows == length);
using types = programs<small>;
using waters = std::vector<types::water>;

/// All strips' fields from functions of row and column, in cells from the middle of the first.
template <class Depth, class U, class V>
waters fields(Depth depth, U u, V v) {
  waters all(small.strips);
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
waters mixed() {
  return fields([](double y, double x) { return 100 + 5 * std::sin(of_cell * (x + 2 * y)); },
                [](double y, double x) { return 3 * std::cos(of_cell * (y - x)); },
                [](double y, double x) { return 3 * std::sin(of_cell * (x + y)); });
}
std::vector<types::places> some_places() {
  std::vector<types::places> all(small.strips);
  int k = 0;
  for (auto& places : all)
    for (auto& p : places) p = 17 * ++k % (small.rows * small.columns);
  return all;
}

double largest_difference(const waters& found, const waters& expected) {
  double most = 0;
  for (std::size_t s = 0; s < found.size(); ++s)
    most = harness::larger(most, harness::largest_difference(found[s], expected[s]));
  return most;
}

// Low waves on deep water, which turn: numbers of the wave's phase. The lengths are those of differences on the grid.
constexpr double mean_depth = 100, height = 1e-4;
struct wave {
  double number = 2 * std::sin(of_cell / 2) / cell, turning = rotation * std::cos(of_cell / 2);
  double frequency = std::sqrt(turning * turning + gravity * mean_depth * number * number);
  double along = height * frequency / (mean_depth * number), across = along * turning / frequency;
};
waters to_the_east(double time) {
  const wave w;
  const auto phase = [=](double x) { return of_cell * x - w.frequency * time; };
  return fields([=](double, double x) { return mean_depth + height * std::cos(phase(x)); },
                [=](double, double x) { return w.along * std::cos(phase(x)); },
                [=](double, double x) { return w.across * std::sin(phase(x)); });
}
waters to_the_north(double time) {
  const wave w;
  const auto phase = [=](double y) { return of_cell * y - w.frequency * time; };
  return fields([=](double y, double) { return mean_depth + height * std::cos(phase(y)); },
                [=](double y, double) { return -w.across * std::sin(phase(y)); },
                [=](double y, double) { return w.along * std::cos(phase(y)); });
}

constexpr auto total_cost = [](auto x, auto known, auto expected) {
  return drx::reduce_sum(drx::map(cost<small>, x, known, drx::broadcast<strips>(expected))).first;
};
using total_cost_program =
    drx::program<total_cost, drx::placed<types::water, strips>, drx::placed<types::known, strips>, types::expected>;

}  // namespace

TEST_CASE("shallow_water: waves run as fast as theory says, over the strips' borders too") {
  const double time = small.steps * seconds;
  for (const auto& wave_at : {to_the_east, to_the_north}) {
    const auto end = std::get<0>(drx::interpreter::call<types::observation>(wave_at(0), some_places()));
    const double moved = largest_difference(wave_at(time), wave_at(0));
    CHECK(largest_difference(end, wave_at(time)) < 0.02 * moved);  // of the steps of time
  }
}

TEST_CASE("shallow_water: mass is conserved to rounding, energy but for the steps of time") {
  const auto start = mixed();
  const auto [end, depths, sums] = drx::interpreter::call<types::observation>(start, some_places());
  const auto [before, after] = sums;
  CHECK(largest_difference(end, start) > 0.01);
  CHECK(harness::difference(after.first, before.first, before.first) < 1e-14);
  CHECK(harness::difference(after.second, before.second, before.second) < 3e-4);
  double mass = 0;
  for (const auto& w : start) mass = std::accumulate(w.begin(), w.begin() + small.rows * small.columns, mass);
  CHECK(harness::difference(before.first, mass, mass) < 1e-14);
}

TEST_CASE("shallow_water: what is read are depths at the places, step by step") {
  auto places = some_places();
  const auto [end, depths, sums] = drx::interpreter::call<types::observation>(mixed(), places);
  for (std::size_t s = 0; s < end.size(); ++s)
    for (int k = 0; k < small.readings; ++k)
      CHECK(depths[s](small.steps - 1, k) == end[s][places[s](small.steps - 1, k)]);
}

TEST_CASE("shallow_water: the adjoint of the cost agrees with differences") {
  std::vector<types::known> known;
  const auto guess = mixed();
  const auto places = some_places();
  for (std::size_t s = 0; s < guess.size(); ++s) {
    types::depths seen;
    for (std::int64_t k = 0; k < seen.size; ++k)
      seen[k] = 100 + std::sin(static_cast<double>(k) + 7 * static_cast<double>(s));
    known.emplace_back(guess[s], places[s], seen);
  }
  const auto at = fields([](double y, double x) { return std::sin(y * x); }, [](double y, double x) { return y - x; },
                         [](double y, double) { return std::cos(y); });
  const types::expected expected{{1, 0.5, 0.5}, 0.5};
  const drx::check_grads_report report = drx::check_grads<total_cost_program>(at, known, expected);
  if (!report) MESSAGE(report.text());
  CHECK(report.ok());
  CHECK(report.unclear == 0);
}
