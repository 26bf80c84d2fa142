#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace knapsack {
struct sacks : drx::placement<sacks> {};
using whole = drx::array<std::int32_t, 40>;
using real = drx::array<float, 40>;

inline constexpr auto full = drx::full<drx::array<float, 63>>(-1e9f);

inline constexpr auto best = [](auto values, auto weights) {  // of a sack that holds 255, of 40 things
  auto with_one_more = [](auto table, auto thing) {
    auto [value, weight] = thing;
    auto before = drx::dynamic_slice<256>(drx::concatenate(full, table), 63 - weight);
    auto next = drx::maximum(table, before + value);
    return std::pair{next, std::tuple{}};
  };
  return drx::index<255>(
      drx::scan(with_one_more, drx::zeros<drx::array<float, 256>>(), std::tuple{values, weights}).first);
};
inline constexpr auto chosen = [](auto values, auto weights) {  // the derivative by a value says whether it is in
  return drx::map(drx::value_and_grad(best), values, weights);
};
using Program = drx::program<chosen, drx::placed<real, sacks>, drx::placed<whole, sacks>>;
}  // namespace knapsack
