#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace label_propagation {
using table = drx::array<float, 2000, 8>;  // eight neighbours of each of 2000 points
using neighbours = drx::array<std::int32_t, 2000, 8>;
using beliefs = drx::array<float, 2000, 10>;

inline constexpr auto loss = [](auto log_width, auto squares, auto near, auto seeds, auto labels) {
  auto weights = drx::softmax(-squares * drx::exp(-log_width));
  auto step = [=](auto f) {
    auto around = drx::take(f, near);  // {2000, 8, 10}
    return 0.9f * drx::sum<1>(drx::expand_dims<2>(weights) * around) + 0.1f * seeds;
  };
  auto f = drx::fori_loop<20>(seeds, step);
  return drx::mean(drx::softmax_cross_entropy(drx::log(f + 1e-3f), labels));
};
inline constexpr auto slope = [](auto log_width, auto... data) {  // by one number: forward mode
  return drx::jvp([=](auto w) { return loss(w, data...); }, log_width, drx::ones<drx::scalar<float>>());
};
using Program = drx::program<slope, float, table, neighbours, beliefs, drx::array<std::int32_t, 2000>>;
}  // namespace label_propagation
