#pragma once
#include <drx/drx.hpp>

namespace kuramoto {
struct starts : drx::placement<starts> {};
using drx::array;
using phases = array<float, 48>;

inline constexpr auto order = [](auto pull, auto speeds, auto start) {  // how far 48 oscillators agree after 100 steps
  auto slope = [=](auto x) {
    auto apart = drx::expand_dims<0>(x) - drx::expand_dims<1>(x);
    return speeds + drx::sum<1>(pull * drx::sin(apart)) / 48;
  };
  auto end = drx::fori_loop<100>(start, [=](auto x) {  // Heun's method
    auto first = slope(x);
    return x + 0.025f * (first + slope(x + 0.05f * first));
  });
  return drx::square(drx::mean(drx::cos(end))) + drx::square(drx::mean(drx::sin(end)));
};
inline constexpr auto mean_order = [](auto pull, auto speeds, auto all) {
  return drx::reduce_mean(drx::map(order, drx::broadcast<starts>(pull), drx::broadcast<starts>(speeds), all));
};
using Program =
    drx::program<drx::value_and_grad<0, 1>(mean_order), array<float, 48, 48>, phases, drx::placed<phases, starts>>;
}  // namespace kuramoto
