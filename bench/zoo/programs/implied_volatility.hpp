#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace implied_volatility {
struct options : drx::placement<options> {};
using option = std::tuple<double, double, double>;  // strike in units of the price, years, price in its units

inline constexpr auto cumulative = [](auto x) { return 0.5 * drx::erfc(-x / std::sqrt(2.0)); };
inline constexpr auto price = [](auto sd, auto rate, auto strike, auto years) {  // Black and Scholes
  auto root = sd * drx::sqrt(years);
  auto d = (rate * years - drx::log(strike)) / root + 0.5 * root;
  return cumulative(d) - strike * drx::exp(-rate * years) * cumulative(d - root);
};
inline constexpr auto implied = [](auto rate, auto of) {  // by seven steps of Newton's method
  auto [strike, years, paid] = of;
  return drx::fori_loop<7>(drx::zeros<drx::scalar<double>>() + 0.4, [=](auto sd) {
    auto [value, slope] = drx::value_and_grad<0>(price)(sd, rate, strike, years);
    return sd - (value - paid) / slope;
  });
};
inline constexpr auto mean_and_slope = [](auto rate, auto data) {
  auto mean = [=](auto r) { return drx::reduce_mean(drx::map(implied, drx::broadcast<options>(r), data)); };
  return drx::value_and_grad(mean)(rate);
};
using Program = drx::program<mean_and_slope, double, drx::placed<option, options>>;
}  // namespace implied_volatility
