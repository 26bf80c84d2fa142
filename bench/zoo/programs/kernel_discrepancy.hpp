#pragma once
#include <drx/drx.hpp>

namespace kernel_discrepancy {
struct samples : drx::placement<samples> {};
using point = drx::array<float, 4>;

inline constexpr auto closeness = [](auto x, auto all, auto width) {  // of a sample to 256 others, by a Gaussian kernel
  return drx::mean(drx::exp(-drx::sum<1>(drx::square(all - x)) / (2 * drx::square(width))));
};
inline constexpr auto score = [](auto width, auto theirs, auto ours) {
  return drx::reduce_mean(drx::map(closeness, ours, drx::broadcast<samples>(theirs), drx::broadcast<samples>(width)));
};
inline constexpr auto log_score = [](auto width, auto theirs, auto ours) {
  return drx::log(score(width, theirs, ours));
};
using Program =
    drx::program<drx::value_and_grad<0, 1>(log_score), float, drx::array<float, 256, 4>, drx::placed<point, samples>>;
}  // namespace kernel_discrepancy
