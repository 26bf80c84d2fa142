#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace volatility {
struct assets : drx::placement<assets> {};
using parameters = drx::array<double, 3>;

inline constexpr auto likelihood = [](auto logs, auto returns) {  // GARCH(1, 1) over 250 days
  auto p = drx::exp(logs);
  auto day = [=](auto state, auto r) {
    auto [variance, sum] = state;
    auto squared = drx::square(r);
    auto next = drx::index<0>(p) + drx::index<1>(p) * squared + drx::index<2>(p) * variance;
    return std::pair{std::pair{next, sum - 0.5 * (drx::log(variance) + squared / variance)}, std::tuple{}};
  };
  auto start = std::pair{drx::ones<drx::scalar<double>>(), drx::zeros<drx::scalar<double>>()};
  return std::get<0>(drx::scan(day, start, returns)).second;
};
inline constexpr auto loss = [](auto logs, auto data) {
  return -drx::reduce_mean(drx::map(likelihood, drx::broadcast<assets>(logs), data));
};
using Program = drx::program<drx::value_and_grad(loss), parameters, drx::placed<drx::array<double, 250>, assets>>;
}  // namespace volatility
