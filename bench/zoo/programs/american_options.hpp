#pragma once
#include <drx/drx.hpp>

#include <cmath>

namespace american_options {
struct options : drx::placement<options> {};
using leaves = drx::array<double, 129>;

inline constexpr auto price = [](auto spot, auto rate, auto volatility) {  // of a put, strike 1, by a binomial tree
  auto up = drx::exp(volatility * std::sqrt(1.0 / 128)), discount = drx::exp(-rate / 128);
  auto chance = (1 / discount - 1 / up) / (up - 1 / up);
  auto steps = drx::iota<leaves>();
  auto back = [=](auto i, auto value) {
    auto held = discount * (chance * drx::roll<-1>(value) + (1 - chance) * value);
    auto depth = drx::cast<double>(127 - i);
    auto exercised = 1 - spot * drx::exp((2 * steps - depth) * drx::log(up));
    return drx::maximum(held, exercised);
  };
  auto ends = drx::maximum(0.0, 1 - spot * drx::exp((2 * steps - 128) * drx::log(up)));
  return drx::index<0>(drx::fori_loop<128>(ends, back));
};
inline constexpr auto value = [](auto rate, auto volatility, auto spots) {
  return drx::reduce_mean(drx::map(price, spots, drx::broadcast<options>(rate), drx::broadcast<options>(volatility)));
};
using Program = drx::program<drx::value_and_grad<0, 1>(value), double, double, drx::placed<double, options>>;
}  // namespace american_options
