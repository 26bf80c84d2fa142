#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace orbits {
struct stars : drx::placement<stars> {};
using nights = drx::array<double, 30>;
// Logarithms of period and amplitude, logit of eccentricity, phase, direction, velocity of the whole system.
using elements = std::tuple<double, double, double, double, double, double>;

inline constexpr auto velocities = [](auto orbit, auto when) {
  auto [period, amplitude, logit, phase, direction, system] = orbit;
  auto e = drx::sigmoid(logit);
  auto mean = when * (6.283185307179586 * drx::exp(-period)) + phase;
  auto newton = [=](auto x) { return x - (x - e * drx::sin(x) - mean) / (1 - e * drx::cos(x)); };  // Kepler's equation
  auto half = 0.5 * drx::fori_loop<6>(mean + e * drx::sin(mean), newton);
  auto angle = 2 * drx::atan2(drx::sqrt(1 + e) * drx::sin(half), drx::sqrt(1 - e) * drx::cos(half));
  return drx::exp(amplitude) * (drx::cos(angle + direction) + e * drx::cos(direction)) + system;
};
inline constexpr auto error = [](auto orbit, auto when, auto seen) {
  return drx::sum(drx::square(velocities(orbit, when) - seen));
};
inline constexpr auto slopes = [](auto orbits, auto when, auto seen) {  // each star's error, and by its own elements
  return drx::map(drx::value_and_grad(error), orbits, when, seen);
};
using Program =
    drx::program<slopes, drx::placed<elements, stars>, drx::placed<nights, stars>, drx::placed<nights, stars>>;
}  // namespace orbits
