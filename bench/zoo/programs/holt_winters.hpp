#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace holt_winters {
struct series : drx::placement<series> {};
using months = drx::array<float, 96>;
using smoothing = std::tuple<float, float, float>;  // of level, trend and season, before the sigmoid

inline constexpr auto error = [](auto raw, auto y) {  // of forecasts a month ahead
  auto [a, b, c] = drx::tree_map([](auto x) { return drx::sigmoid(x); }, raw);
  auto step = [=](auto state, auto seen) {
    auto [level, trend, season] = state;  // the season's first number is this month's
    auto now = drx::index<0>(season);
    auto next = a * (seen - now) + (1 - a) * (level + trend);
    auto slope = b * (next - level) + (1 - b) * trend;
    auto later = c * (seen - next) + (1 - c) * now;
    auto turned = drx::concatenate(drx::slice<1, 12>(season), drx::reshape<1>(later));
    return std::pair{std::tuple{next, slope, turned}, drx::square(seen - level - trend - now)};
  };
  auto first = drx::slice<0, 12>(y);
  auto level = drx::mean(first);
  auto trend = (drx::mean(drx::slice<12, 24>(y)) - level) / 12;
  auto [last, errors] = drx::scan(step, std::tuple{level, trend, first - level}, y);
  return drx::mean(errors);
};
inline constexpr auto loss = [](auto raw, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<series>(raw), data));
};
using Program = drx::program<drx::value_and_grad(loss), smoothing, drx::placed<months, series>>;
}  // namespace holt_winters
