#pragma once
#include <drx/drx.hpp>

namespace value_iteration {
struct worlds : drx::placement<worlds> {};
using grid = drx::array<float, 16, 16>;

inline constexpr auto value = [](auto warmth, auto rewards, auto walls) {  // soft value iteration, 40 sweeps
  auto sweep = [=](auto v) {
    auto edge = drx::pad<drx::padding<1>, drx::padding<1>>(v);
    auto to = [=](auto there) { return drx::where(walls > 0, v, there); };
    using drx::all, drx::range, drx::slice;
    auto up = to(slice<range<0, 16>, range<1, 17>>(edge)), down = to(slice<range<2, 18>, range<1, 17>>(edge));
    auto left = to(slice<range<1, 17>, range<0, 16>>(edge)), right = to(slice<range<1, 17>, range<2, 18>>(edge));
    auto mean = 0.25f * (up + down + left + right);
    auto mixed = [=](auto there) { return warmth * (0.8f * there + 0.2f * mean); };
    return rewards + 0.95f / warmth * drx::logsumexp<0>(drx::stack(mixed(up), mixed(down), mixed(left), mixed(right)));
  };
  return drx::mean(drx::fori_loop<40>(drx::zeros<grid>(), sweep));
};
inline constexpr auto worth = [](auto warmth, auto rewards, auto walls) {
  return drx::reduce_mean(drx::map(value, drx::broadcast<worlds>(warmth), rewards, walls));
};
using Program =
    drx::program<drx::value_and_grad<0, 1>(worth), float, drx::placed<grid, worlds>, drx::placed<grid, worlds>>;
}  // namespace value_iteration
