// bench/pendulums/drx_side.hpp: the simulations in drx, as a user writes them: one member for each, with a loop of its
// own.
#pragma once

#include "inputs.hpp"

#include <drx/ext/hana.hpp>
#include <drx/run.hpp>

#include <utility>

namespace pendulums::program {

struct runs : drx::placement<runs> {};
struct constants {
  drx::scalar<float> pull, damping;
};
struct run {
  drx::scalar<float> angle, speed, seen;
};

}  // namespace pendulums::program
BOOST_HANA_ADAPT_STRUCT(pendulums::program::constants, pull, damping);
BOOST_HANA_ADAPT_STRUCT(pendulums::program::run, angle, speed, seen);

namespace pendulums::program {

inline constexpr auto error = [](auto c, auto r) {
  auto slope = [=](auto q, auto p) { return std::pair{p, -(c.pull * drx::sin(q)) - c.damping * p}; };
  auto one_step = [=](auto state) {
    auto [q, p] = state;
    auto [q1, p1] = slope(q, p);
    auto [q2, p2] = slope(q + step / 2 * q1, p + step / 2 * p1);
    auto [q3, p3] = slope(q + step / 2 * q2, p + step / 2 * p2);
    auto [q4, p4] = slope(q + step * q3, p + step * p3);
    return std::pair{q + step / 6 * (q1 + 2 * q2 + 2 * q3 + q4), p + step / 6 * (p1 + 2 * p2 + 2 * p3 + p4)};
  };
  auto [q, p] = drx::fori_loop<steps>(std::pair{r.angle, r.speed}, one_step);
  return drx::square(q - r.seen);
};
inline constexpr auto mean_error = [](auto c, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<runs>(c), data));
};
inline constexpr auto gradient = drx::grad(mean_error);
using Gradient = drx::program<gradient, constants, drx::placed<run, runs>>;

}  // namespace pendulums::program
