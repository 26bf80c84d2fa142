#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace registration {
struct images : drx::placement<images> {};
using picture = drx::array<float, 32, 32>;

inline constexpr auto moved = [](auto motion, auto image) {  // turned by an angle, then shifted; bilinear
  auto [angle, down, right] = motion;
  auto i = drx::iota<picture, 0>() - 15.5f, j = drx::iota<picture, 1>() - 15.5f;
  auto y = drx::cos(angle) * i - drx::sin(angle) * j + down + 15.5f;
  auto x = drx::sin(angle) * i + drx::cos(angle) * j + right + 15.5f;
  auto top = drx::floor(y), left = drx::floor(x);
  auto pixel = [=](auto row, auto column) {  // beyond the border as on it
    auto at = 32 * drx::clamp(row, 0, 31) + drx::clamp(column, 0, 31);
    return drx::take(drx::reshape<1024>(image), drx::cast<int>(at));
  };
  auto v = y - top, u = x - left;
  return (1 - v) * ((1 - u) * pixel(top, left) + u * pixel(top, left + 1)) +
         v * ((1 - u) * pixel(top + 1, left) + u * pixel(top + 1, left + 1));
};
inline constexpr auto error = [](auto motion, auto image, auto target) {
  return drx::mean(drx::square(moved(motion, image) - target));
};
inline constexpr auto errors = [](auto motions, auto pictures, auto targets) {
  auto [values, slopes] = drx::map(drx::value_and_grad(error), motions, pictures, targets);
  return std::pair{drx::reduce_mean(values), slopes};
};
using Program = drx::program<errors, drx::placed<std::tuple<float, float, float>, images>, drx::placed<picture, images>,
                             drx::placed<picture, images>>;
}  // namespace registration
