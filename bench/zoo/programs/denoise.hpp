#pragma once
#include <drx/drx.hpp>

namespace denoise {
struct images : drx::placement<images> {};
using image = drx::array<float, 64, 64>;

inline constexpr auto energy = [](auto u, auto noisy, auto weight) {  // smoothed total variation
  auto across = drx::slice<drx::all, drx::range<1, 64>>(u) - drx::slice<drx::all, drx::range<0, 63>>(u);
  auto down = drx::slice<1, 64>(u) - drx::slice<0, 63>(u);
  auto steps = drx::sum(drx::sqrt(drx::square(across) + 0.01f)) + drx::sum(drx::sqrt(drx::square(down) + 0.01f));
  return 0.5f * drx::sum(drx::square(u - noisy)) + weight * steps;
};
inline constexpr auto cleaned = [](auto weight, auto noisy) {  // what is left of the noise after 20 steps
  auto u = drx::fori_loop<20>(noisy, [=](auto v) { return v - 0.1f * drx::grad(energy)(v, noisy, weight); });
  return drx::mean(drx::square(u - noisy));
};
inline constexpr auto mean = [](auto weight, auto data) {
  return drx::reduce_mean(drx::map(cleaned, drx::broadcast<images>(weight), data));
};
using Program = drx::program<mean, float, drx::placed<image, images>>;
}  // namespace denoise
