#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace boltzmann {
struct clients : drx::placement<clients> {};
using machine = std::tuple<drx::array<float, 64, 32>, drx::array<float, 64>, drx::array<float, 32>>;
using batch = drx::array<float, 20, 64>;

inline constexpr auto update = [](auto m, auto key, auto seen) {  // by contrastive divergence: three of Gibbs' steps
  auto [weights, of_seen, of_hidden] = m;
  auto hidden = [=](auto v) { return drx::sigmoid(drx::matmul(v, weights) + of_hidden); };
  auto visible = [=](auto h) { return drx::sigmoid(drx::matmul(h, drx::transpose(weights)) + of_seen); };
  auto step = [=](auto i, auto v) {
    auto own = drx::fold_in(drx::random_key(key), i);
    auto h = drx::cast<float>(drx::bernoulli<20, 32>(drx::fold_in(own, 0), hidden(v)));
    return drx::cast<float>(drx::bernoulli<20, 64>(drx::fold_in(own, 1), visible(h)));
  };
  auto dreamt = drx::fori_loop<3>(seen, step);
  auto before = hidden(seen), after = hidden(dreamt);
  auto slope = drx::matmul(drx::transpose(seen), before) - drx::matmul(drx::transpose(dreamt), after);
  return std::tuple{slope * (1 / 20.f), drx::mean<0>(seen - dreamt), drx::mean<0>(before - after)};
};
inline constexpr auto round = [](auto m, auto keys, auto seen) {
  auto [a, b, c] = drx::reduce_mean(drx::map(update, drx::broadcast<clients>(m), keys, seen));
  auto [weights, of_seen, of_hidden] = m;
  return std::tuple{weights + 0.1f * a, of_seen + 0.1f * b, of_hidden + 0.1f * c};
};
using Program = drx::program<round, machine, drx::placed<std::int64_t, clients>, drx::placed<batch, clients>>;
}  // namespace boltzmann
