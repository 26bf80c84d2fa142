#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace histograms {
struct records : drx::placement<records> {};
using counts = drx::array<std::int32_t, 64>;

inline constexpr auto count = [](auto x) {  // how many of a record's numbers fall into each of 64 bins
  auto bins = drx::cast<std::int32_t>(drx::clamp(drx::floor(8 * x + 32), 0, 63));
  return drx::scatter_add(drx::zeros<counts>(), bins, drx::ones<drx::array<std::int32_t, 256>>());
};
inline constexpr auto spread = [](auto data) {
  auto own = drx::map(count, data);
  auto fullest = drx::map([](auto n) { return drx::max(n); }, own);
  return std::pair{drx::cumsum(drx::reduce_sum(own)),
                   drx::reduce_mean(drx::map([](auto n) { return drx::cast<float>(n); }, fullest))};
};
using Program = drx::program<spread, drx::placed<drx::array<float, 256>, records>>;
}  // namespace histograms
