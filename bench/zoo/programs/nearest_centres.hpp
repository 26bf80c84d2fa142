#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace nearest_centres {
struct points : drx::placement<points> {};
using centres = drx::array<float, 20, 8>;

inline constexpr auto nearest = [](auto c, auto x) {  // the nearest centre's share of the sums
  auto squares = drx::sum<1>(drx::square(c - x));
  auto mine = drx::one_hot<float, 20>(drx::argmin(squares));
  return std::tuple{drx::outer(mine, x), mine, drx::min(squares)};
};
inline constexpr auto step = [](auto c, auto data) {  // of k-means: new centres, and the distortion by the old ones
  auto [sums, counts, distortion] = drx::map(nearest, drx::broadcast<points>(c), data);
  auto n = drx::reshape<20, 1>(drx::reduce_sum(counts));
  return std::pair{drx::where(n > 0, drx::reduce_sum(sums) / drx::max(n, 1), c), drx::reduce_mean(distortion)};
};
using Program = drx::program<step, centres, drx::placed<drx::array<float, 8>, points>>;
}  // namespace nearest_centres
