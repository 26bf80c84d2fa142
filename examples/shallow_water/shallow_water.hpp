// shallow_water/shallow_water.hpp: waves in a rotating basin, and the search for the water from which they came.
#pragma once

#include <array>
#include <cstdint>
#include <drx/drx.hpp>
#include <tuple>
#include <utility>

namespace shallow_water {

/// A basin that is cut into strips of rows. It is periodic in both directions.
struct sizes {
  int strips, rows, columns;  // rows of each strip
  int steps;                  // of time
  int readings;               // of each strip, at each step
  int sweeps;                 // of the smoothing that gives errors of the first guess their length
};
inline constexpr sizes size{.strips = 8, .rows = 8, .columns = 64, .steps = 60, .readings = 3, .sweeps = 24};

struct strips : drx::placement<strips> {
  static constexpr std::int64_t most_members = 63;
};

inline constexpr double cell = 20e3;      // m, the length of a cell's sides
inline constexpr double seconds = 360;    // of a step
inline constexpr double gravity = 9.81;   // m/s^2
inline constexpr double rotation = 1e-4;  // 1/s, Coriolis' parameter

// cut-begin water
/// A strip's fields with one row more on either side, which its neighbours have. x: fields x rows x columns.
template <sizes S>
inline constexpr auto with_neighbours = [](auto x) {
  std::array<int, S.strips> to_south{}, to_north{};
  for (int i = 0; i < S.strips; ++i) {
    to_south[static_cast<std::size_t>(i)] = (i + S.strips - 1) % S.strips;
    to_north[static_cast<std::size_t>(i)] = (i + 1) % S.strips;
  }
  auto last = drx::ppermute<strips>(drx::slice<drx::all, drx::range<S.rows - 1, S.rows>>(x), to_south);
  auto first = drx::ppermute<strips>(drx::slice<drx::all, drx::range<0, 1>>(x), to_north);
  return drx::concatenate<1>(last, x, first);
};

/// Rows but the last, and but the first: of two neighbours the one to the south, and the one to the north.
inline constexpr auto south = [](auto x) { return drx::slice<0, decltype(x)::shape[0] - 1>(x); };
inline constexpr auto north = [](auto x) { return drx::slice<1, decltype(x)::shape[0]>(x); };
inline constexpr auto west = [](auto x) { return drx::roll<1, 1>(x); };
inline constexpr auto east = [](auto x) { return drx::roll<-1, 1>(x); };
inline constexpr auto mean_of = [](auto x, auto y) { return 0.5 * (x + y); };

/// How fast depth h and velocities u and v change: the scheme of Sadourny (1975) that conserves energy. h is in the
/// middle of a cell, u on its west side, v on its south side, and what turns the water at the corner between them.
template <sizes S>
inline constexpr auto slope = [](auto water) {
  auto more = with_neighbours<S>(water);
  auto h = drx::index<0>(more), u = drx::index<1>(more), v = drx::index<2>(more);
  auto depth = mean_of(h, west(h));
  auto across = depth * u;  // water that flows through the sides
  auto along = mean_of(south(h), north(h)) * north(v);
  auto spin = rotation + (north(v - west(v)) - north(u) + south(u)) / cell;
  auto turn = spin / mean_of(south(depth), north(depth));  // potential vorticity
  auto of_cell = gravity * h + 0.5 * mean_of(u * u, east(u * u));
  auto head = south(of_cell) + 0.5 * mean_of(south(v * v), north(v * v));
  auto turned_u = turn * mean_of(along, west(along)), turned_v = turn * mean_of(south(across), north(across));
  auto dh = south(north(across - east(across))) + south(along) - north(along);
  auto du = cell * mean_of(south(turned_u), north(turned_u)) + north(west(head) - head);
  auto dv = -cell * south(mean_of(turned_v, east(turned_v))) + south(head) - north(head);
  return drx::stack(dh, du, dv) / cell;
};

/// A step of Runge and Kutta's method of third order.
template <sizes S>
inline constexpr auto step = [](auto water) {
  auto third = water + seconds / 3 * slope<S>(water);
  auto half = water + seconds / 2 * slope<S>(third);
  return water + seconds * slope<S>(half);
};

/// The water at the end, and the depths that are read on the way. places: cells of the strip, steps x readings. The
/// adjoint keeps the water at every tenth step.
template <sizes S>
inline constexpr auto forecast = [](auto water, auto places) {
  auto next = [](auto now, auto here) {
    auto then = step<S>(now);
    return std::pair{then, drx::take(drx::reshape<S.rows * S.columns>(drx::index<0>(then)), here)};
  };
  return drx::scan(next, water, places, drx::checkpoint_every<10>);
};
// cut-end water

/// The sums of depth and of energy over a strip's cells.
template <sizes S>
inline constexpr auto sums = [](auto water) {
  auto more = with_neighbours<S>(water);
  auto h = drx::index<0>(more), u = drx::index<1>(more), v = drx::index<2>(more);
  auto of_cell = gravity * h * h + mean_of(h, west(h)) * u * u;
  auto of_south_side = mean_of(south(h), north(h)) * north(v * v);
  return std::pair{drx::sum(drx::index<0>(water)),
                   0.5 * (drx::sum(south(north(of_cell))) + drx::sum(south(of_south_side)))};
};

/// What the weights 1 2 1, passed over a line again and again, leave of a number's variance.
template <sizes S>
inline constexpr double remaining_variance = [] {
  double part = 1;  // the squares of the binomial coefficients of 2n, over 16^n
  for (int n = 1; n <= 2 * S.sweeps; ++n) part *= (2.0 * n - 1) / (2.0 * n);
  return part;
}();

// cut-begin search
/// Independent numbers become errors such as a first guess has: smooth, with these deviations in depth and velocities.
template <sizes S>
inline constexpr auto smoothed = [](auto x, auto deviations) {
  auto sweep = [](auto now) {
    auto more = with_neighbours<S>(now);
    auto before = drx::slice<drx::all, drx::range<0, S.rows>>(more);
    auto behind = drx::slice<drx::all, drx::range<2, S.rows + 2>>(more);
    auto y = 0.25 * (before + 2 * now + behind);
    return 0.25 * (drx::roll<1, 2>(y) + 2 * y + drx::roll<-1, 2>(y));
  };
  return drx::reshape<3, 1, 1>(deviations / remaining_variance<S>) * drx::fori_loop<S.sweeps>(x, sweep);
};
template <sizes S>
inline constexpr auto water_at =
    [](auto x, auto known, auto expected) { return std::get<0>(known) + smoothed<S>(x, std::get<0>(expected)); };
/// How far the forecast is from each reading, in units of the noise.
template <sizes S>
inline constexpr auto misfits = [](auto x, auto known, auto expected) {
  auto [guess, places, seen] = known;
  return (forecast<S>(water_at<S>(x, known, expected), places).second - seen) / std::get<1>(expected);
};
/// What is to be least, as the strip's part of it: half of the squares of misfits and of x; with the squares of
/// misfits.
template <sizes S>
inline constexpr auto cost = [](auto x, auto known, auto expected) {
  auto squares = drx::sum(drx::square(misfits<S>(x, known, expected)));
  return std::pair{0.5 * (squares + drx::sum(drx::square(x))), squares};
};

/// A step of conjugate gradients (Polak and Ribiere), as long as Gauss and Newton say. It takes one pass back through
/// the forecast, for the slope, and one forward, for what the direction changes in the readings.
template <sizes S>
inline constexpr auto search_strip = [](auto search, auto known, auto expected) {
  auto [x, old_slope, old_direction] = search;
  auto total = [](auto a, auto b) { return drx::psum<strips>(drx::sum(a * b)); };
  auto [values, slope] = drx::value_and_grad(cost<S>)(x, known, expected);
  auto before = total(old_slope, old_slope), turned = drx::max(total(slope, slope - old_slope), 0) / before;
  auto direction = drx::where(before > 0, turned, 0) * old_direction - slope;
  auto change = drx::jvp([=](auto at) { return misfits<S>(at, known, expected); }, x, direction).second;
  auto length = -total(slope, direction) / (total(change, change) + total(direction, direction));
  return std::tuple{std::tuple{x + length * direction, slope, direction}, water_at<S>(x, known, expected), values};
};
/// The same at all strips: where the step leads, the water from which it went, and what that costs.
template <sizes S>
inline constexpr auto search_step = [](auto search, auto known, auto expected) {
  auto [next, water, values] = drx::map(search_strip<S>, search, known, drx::broadcast<strips>(expected));
  return std::tuple{next, water, drx::reduce_sum(values)};
};
// cut-end search

/// The water at the end, what is read on the way, and the sums of depth and energy before and after.
template <sizes S>
inline constexpr auto observe = [](auto water, auto places) {
  auto of_strip = [](auto start, auto here) {
    auto [end, depths] = forecast<S>(start, here);
    return std::tuple{end, depths, std::pair{sums<S>(start), sums<S>(end)}};
  };
  auto [end, depths, both] = drx::map(of_strip, water, places);
  return std::tuple{end, depths, drx::reduce_sum(both)};
};

template <sizes S>
struct programs {
  using water = drx::array<double, 3, S.rows, S.columns>;
  using places = drx::array<std::int32_t, S.steps, S.readings>;
  using depths = drx::array<double, S.steps, S.readings>;
  using search = std::tuple<water, water, water>;             // x, and the slope and direction before
  using known = std::tuple<water, places, depths>;            // the first guess, and what was read where
  using expected = std::pair<drx::array<double, 3>, double>;  // deviations of the guess's fields, and of readings
  using observation = drx::program<observe<S>, drx::placed<water, strips>, drx::placed<places, strips>>;
  using search_step =
      drx::program<shallow_water::search_step<S>, drx::placed<search, strips>, drx::placed<known, strips>, expected>;
};
using observation = programs<size>::observation;
using search = programs<size>::search_step;

}  // namespace shallow_water
