#pragma once
#include <drx/drx.hpp>

namespace quantiles {
struct groups : drx::placement<groups> {};

inline constexpr auto spread = [](auto scale, auto shift, auto x) {  // a trimmed mean and the range between quartiles
  auto y = drx::sort(drx::tanh(scale * x + shift));
  auto middle = drx::mean(drx::slice<16, 112>(y));
  return drx::square(middle) + drx::index<96>(y) - drx::index<32>(y);
};
inline constexpr auto loss = [](auto scale, auto shift, auto data) {
  return drx::reduce_mean(drx::map(spread, drx::broadcast<groups>(scale), drx::broadcast<groups>(shift), data));
};
using Program =
    drx::program<drx::value_and_grad<0, 1>(loss), float, float, drx::placed<drx::array<float, 128>, groups>>;
}  // namespace quantiles
