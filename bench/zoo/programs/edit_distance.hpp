#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace edit_distance {
struct pairs : drx::placement<pairs> {};
using word = drx::array<std::int32_t, 32>;
using row = drx::array<std::int32_t, 33>;

inline constexpr auto distance = [](auto a, auto b) {  // of Levenshtein
  auto places = drx::iota<row>();
  auto step = [=](auto before, auto letter) {
    auto kept = drx::slice<0, 32>(before) + drx::cast<std::int32_t>(b != letter);
    auto best = drx::minimum(kept, drx::slice<1, 33>(before) + 1);
    auto first = drx::reshape<1>(drx::index<0>(before) + 1);
    auto now = drx::cummin<0>(drx::concatenate(first, best) - places) + places;  // insertions
    return std::pair{now, std::tuple{}};
  };
  return drx::index<32>(std::get<0>(drx::scan(step, places, a)));
};
inline constexpr auto distances = [](auto a, auto b) {
  auto all = drx::map(distance, a, b);
  return std::pair{drx::reduce_sum(all), drx::reduce_max(all)};
};
using Program = drx::program<distances, drx::placed<word, pairs>, drx::placed<word, pairs>>;
}  // namespace edit_distance
