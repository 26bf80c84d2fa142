#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace monte_carlo {
struct paths : drx::placement<paths> {};

inline constexpr auto payoff = [](auto market, auto i) {  // of an Asian option over 32 dates
  auto [start, spread] = market;
  auto noise = drx::normal<float, 32>(drx::fold_in(drx::random_key(11), i));
  auto logs = drx::cumsum<0>(0.1f * spread * noise - 0.005f * drx::square(spread));
  return drx::relu(start * drx::mean(drx::exp(logs)) - 1);
};
inline constexpr auto price = [](auto market, auto numbers) {
  return drx::reduce_mean(drx::map(payoff, drx::broadcast<paths>(market), numbers));
};
using Program = drx::program<drx::value_and_grad(price), std::pair<float, float>, drx::placed<std::int32_t, paths>>;
}  // namespace monte_carlo
