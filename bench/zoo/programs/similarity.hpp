#pragma once
#include <drx/drx.hpp>

namespace similarity {
struct pictures : drx::placement<pictures> {};
using picture = drx::array<float, 64, 64>;
constexpr drx::array<float, 7> taps{0.037f, 0.111f, 0.216f, 0.272f, 0.216f, 0.111f, 0.037f};

inline constexpr auto blur = [](auto x) {  // by seven taps along each axis, inside only
  auto image = drx::reshape<1, 64, 64, 1>(x);
  auto down = drx::conv2d(image, drx::reshape<7, 1, 1, 1>(drx::constant(taps)));
  return drx::reshape<58, 58>(drx::conv2d(down, drx::reshape<1, 7, 1, 1>(drx::constant(taps))));
};
inline constexpr auto alike = [](auto x, auto y) {  // structural similarity
  auto mx = blur(x), my = blur(y);
  auto vx = blur(x * x) - mx * mx, vy = blur(y * y) - my * my, both = blur(x * y) - mx * my;
  return drx::mean((2 * mx * my + 1e-4f) * (2 * both + 9e-4f) / ((mx * mx + my * my + 1e-4f) * (vx + vy + 9e-4f)));
};
inline constexpr auto all = [](auto x, auto y) { return drx::reduce_mean(drx::map(alike, x, y)); };
using Program = drx::program<drx::value_and_grad(all), drx::placed<picture, pictures>, drx::placed<picture, pictures>>;
}  // namespace similarity
