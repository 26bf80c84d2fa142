#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace basket {
struct paths : drx::placement<paths> {};
using drx::array;
using market = std::tuple<array<float, 5>, array<float, 5>, array<float, 5, 5>>;  // prices, spreads, correlations

inline constexpr auto payoff = [](auto m, auto i) {  // of the best of five assets, after twelve months
  auto [start, spread, factor] = m;
  auto step = [=](auto logs, auto noise) {
    return std::pair{logs + 0.29f * spread * drx::matmul(factor, noise) - 0.042f * drx::square(spread), std::tuple{}};
  };
  auto noise = drx::normal<float, 12, 5>(drx::fold_in(drx::random_key(3), i));
  auto ends = start * drx::exp(std::get<0>(drx::scan(step, drx::zeros<array<float, 5>>(), noise)));
  return drx::relu(drx::max(ends) - 1.2f);
};
inline constexpr auto price = [](auto m, auto numbers) {
  auto [start, spread, correlation] = m;
  auto factored = std::tuple{start, spread, drx::cholesky(correlation)};
  return drx::reduce_mean(drx::map(payoff, drx::broadcast<paths>(factored), numbers));
};
using Program = drx::program<drx::value_and_grad(price), market, drx::placed<std::int32_t, paths>>;
}  // namespace basket
