#pragma once

#include <drx/drx.hpp>

namespace models {
struct clients : drx::placement<clients> {};
inline constexpr auto mean_of_squares = [](auto x, auto scale) {
  return drx::reduce_mean(
      drx::map([](auto v, auto s) { return drx::sum(v * v) * s; }, x, drx::broadcast<clients>(scale)));
};
using Mean = drx::program<mean_of_squares, drx::placed<drx::array<double, 3>, clients>, double>;
using Slope = drx::program<drx::grad<1>(mean_of_squares), drx::placed<drx::array<double, 3>, clients>, double>;
}  // namespace models
