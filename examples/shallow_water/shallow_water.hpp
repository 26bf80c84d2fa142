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
  int checkpoints;            // steps between the states that the adjoint keeps
  int sweeps;                 // of the smoothing that gives errors of the first guess their length
};
inline constexpr sizes size{
    .strips = 8, .rows = 8, .columns = 64, .steps = 60, .readings = 3, .checkpoints = 10, .sweeps = 12};

struct strips : drx::placement<strips> {
  static constexpr std::int64_t most_members = 100;
};

inline constexpr double cell = 5000;      // m, the length of a cell's sides
inline constexpr double seconds = 90;     // of a step
inline constexpr double gravity = 9.81;   // m/s^2
inline constexpr double rotation = 2e-4;  // 1/s, Coriolis' parameter

// cut-begin neighbours
/// A strip's fields with one row more on either side, which its neighbours have. x: fields x rows x columns.
template <sizes S>
inline constexpr auto with_neighbours = [](auto x) {
  std::array<int, S.strips> south{}, north{};
  for (int i = 0; i < S.strips; ++i) {
    south[static_cast<std::size_t>(i)] = (i + S.strips - 1) % S.strips;
    north[static_cast<std::size_t>(i)] = (i + 1) % S.strips;
  }
  auto last = drx::ppermute<strips>(drx::slice<drx::all, drx::range<S.rows - 1, S.rows>>(x), south);
  auto first = drx::ppermute<strips>(drx::slice<drx::all, drx::range<0, 1>>(x), north);
  return drx::concatenate<1>(last, x, first);
};
// cut-end neighbours

inline constexpr auto west = [](auto x) { return drx::roll<1, 1>(x); };
inline constexpr auto east = [](auto x) { return drx::roll<-1, 1>(x); };
inline constexpr auto upper = [](auto x) { return drx::slice<1, decltype(x)::shape[0]>(x); };
inline constexpr auto lower = [](auto x) { return drx::slice<0, decltype(x)::shape[0] - 1>(x); };
inline constexpr auto mean_of = [](auto x, auto y) { return 0.5 * (x + y); };

// cut-begin slope
/// How depth and velocities change: the scheme of Sadourny (1975) that conserves energy. h is in the middle of a cell,
/// u on its west side, v on its south side.
template <sizes S>
inline constexpr auto slope = [](auto water) {
  auto more = with_neighbours<S>(water);
  auto h = drx::index<0>(more), u = drx::index<1>(more), v = drx::index<2>(more);
  auto across = mean_of(h, west(h)) * u;                  // flow through the west sides
  auto along = mean_of(lower(h), upper(h)) * upper(v);    // and the south sides
  auto spin = (upper(v - west(v)) - (upper(u) - lower(u))) / cell + rotation;
  auto depth = mean_of(h, west(h));
  auto q = spin / mean_of(lower(depth), upper(depth));    // potential vorticity, at the south west corners
  auto b = gravity * h + 0.5 * mean_of(u * u, east(u * u));
  auto head = lower(b) + 0.5 * mean_of(lower(v * v), upper(v * v));
  auto turned_u = q * mean_of(along, west(along)), turned_v = q * mean_of(lower(across), upper(across));
  auto dh = lower(upper(across - east(across))) + lower(along) - upper(along);
  auto du = mean_of(lower(turned_u), upper(turned_u)) * cell + upper(west(head) - head);
  auto dv = lower(mean_of(turned_v, east(turned_v))) * -cell + lower(head) - upper(head);
  return drx::stack(dh, du, dv) / cell;
};

/// A step of Runge and Kutta's method of third order.
template <sizes S>
inline constexpr auto step = [](auto water) {
  auto third = water + seconds / 3 * slope<S>(water);
  auto half = water + seconds / 2 * slope<S>(third);
  return water + seconds * slope<S>(half);
};

/// The water at the end, and the depths that are read on the way. places: steps x readings, cells of the strip.
template <sizes S>
inline constexpr auto forecast = [](auto water, auto places) {
  auto next = [](auto now, auto here) {
    auto then = step<S>(now);
    auto depths = drx::reshape<S.rows * S.columns>(drx::index<0>(then));
    return std::pair{then, drx::take(depths, here)};
  };
  return drx::scan(next, water, places, drx::checkpoint_every<S.checkpoints>);
};
// cut-end slope

/// Mass and energy of a strip, over area and density.
template <sizes S>
inline constexpr auto sums = [](auto water) {
  auto more = with_neighbours<S>(water);
  auto h = drx::slice<drx::all, drx::range<1, S.rows + 1>>(more);
  auto depth = drx::index<0>(h), u = drx::index<1>(h), v = drx::index<2>(h);
  auto south = drx::index<0>(drx::slice<drx::all, drx::range<0, S.rows>>(more));
  auto energy = gravity * depth * depth + mean_of(depth, west(depth)) * u * u + mean_of(depth, south) * v * v;
  return drx::array<double, 2>(drx::stack(drx::sum(depth), 0.5 * drx::sum(energy)));
};

/// How far a smoothed field spreads: the sum of squares of the weights 1 2 1, passed over a line again and again.
template <sizes S>
inline constexpr double spread = [] {
  double sum = 1;  // of squares of the binomial coefficients of 2n, over 16^n
  for (int n = 1; n <= 2 * S.sweeps; ++n) sum *= (2.0 * n - 1) / (2.0 * n);
  return sum;
}();

// cut-begin search
/// Fields of independent numbers become fields of errors: smooth, with these deviations.
template <sizes S>
inline constexpr auto smoothed = [](auto x, auto deviations) {
  auto smooth = [](auto now) {
    auto more = with_neighbours<S>(now);
    auto a = drx::slice<drx::all, drx::range<0, S.rows>>(more), b = drx::slice<drx::all, drx::range<2, S.rows + 2>>(more);
    auto y = 0.25 * (a + 2 * now + b);
    return 0.25 * (drx::roll<1, 2>(y) + 2 * y + drx::roll<-1, 2>(y));
  };
  return drx::reshape<3, 1, 1>(deviations / spread<S>) * drx::fori_loop<S.sweeps>(x, smooth);
};

/// A step of the search, at one strip. x, times what is known of errors, is added to the first guess; the best x is
/// small and explains what was seen. Conjugate gradients (Polak and Ribiere), each as long as Gauss and Newton say.
template <sizes S>
inline constexpr auto search_strip = [](auto search, auto strip, auto deviations, auto noise) {
  auto [x, old_slope, old_direction] = search;
  auto [guess, places, seen] = strip;
  auto water = [=](auto at) { return guess + smoothed<S>(at, deviations); };
  auto misfits = [=](auto at) { return (forecast<S>(water(at), places).second - seen) / noise; };
  auto cost = [=](auto at) {
    auto m = misfits(at);
    return std::pair{0.5 * (drx::sum(m * m) + drx::sum(at * at)), drx::sum(m * m)};
  };
  auto total = [](auto a, auto b) { return drx::psum<strips>(drx::sum(a * b)); };

  auto [values, slope] = drx::value_and_grad(cost)(x);
  auto before = total(old_slope, old_slope), turn = drx::max(total(slope, slope - old_slope), 0) / before;
  auto direction = drx::where(before > 0, turn, 0) * old_direction - slope;
  auto change = drx::jvp(misfits, x, direction).second;
  auto length = -total(slope, direction) / (total(change, change) + total(direction, direction));
  return std::tuple{std::tuple{x + length * direction, slope, direction}, water(x), values};
};

/// A step of the search, with the water to which it had come, and what it costs.
template <sizes S>
inline constexpr auto search_step = [](auto search, auto strip, auto deviations, auto noise) {
  auto [next, water, values] = drx::map(search_strip<S>, search, strip, drx::broadcast<strips>(deviations),
                                        drx::broadcast<strips>(noise));
  return std::tuple{next, water, drx::reduce_sum(values)};
};
// cut-end search

/// The water at the end, what is read on the way, and the sums of depth and of energy before and after.
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
  using search = std::tuple<water, water, water>;
  using strip = std::tuple<water, places, depths>;
  using observation = drx::program<observe<S>, drx::placed<water, strips>, drx::placed<places, strips>>;
  using search_step = drx::program<shallow_water::search_step<S>, drx::placed<search, strips>, drx::placed<strip, strips>,
                            drx::array<double, 3>, double>;
};
using observation = programs<size>::observation;
using search = programs<size>::search_step;

}  // namespace shallow_water
