#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace kepler {
struct sightings : drx::placement<sightings> {};
using drx::array;
using orbit = array<double, 5>;  // phase, mean motion, eccentricity, turn, size
using sighting = std::tuple<double, array<double, 2>>;

inline constexpr auto anomaly = [](auto mean, auto eccentricity) {  // by Newton's method, until it stands
  auto off = [=](auto e) { return e - eccentricity * drx::sin(e) - mean; };
  return drx::while_loop<20>([=](auto e) { return drx::abs(off(e)) > 1e-12; },
                             [=](auto e) { return e - off(e) / (1 - eccentricity * drx::cos(e)); },
                             mean + eccentricity * drx::sin(mean));
};
inline constexpr auto error = [](auto o, auto of) {
  auto [time, seen] = of;
  auto eccentricity = drx::index<2>(o), turn = drx::index<3>(o);
  auto turns = (drx::index<0>(o) + drx::index<1>(o) * time) / 6.283185307179586;
  auto e = anomaly((turns - drx::round(turns)) * 6.283185307179586, eccentricity);
  auto x = drx::cos(e) - eccentricity, y = drx::sqrt(1 - drx::square(eccentricity)) * drx::sin(e);
  auto c = drx::cos(turn), s = drx::sin(turn);
  auto at = drx::index<4>(o) * drx::stack(c * x - s * y, s * x + c * y);
  return drx::sum(drx::square(at - seen));
};
inline constexpr auto loss = [](auto o, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<sightings>(o), data));
};
using Program = drx::program<drx::value_and_grad(loss), orbit, drx::placed<sighting, sightings>>;
}  // namespace kepler
