#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace shallow_water {
struct basins : drx::placement<basins> {};
using field = drx::array<float, 64, 64>;

inline constexpr auto ahead = [](auto state) {  // a step on a grid that goes round
  auto [h, u, v] = state;
  auto right = [](auto x) {
    return drx::concatenate<1>(drx::slice<drx::all, drx::range<1, 64>>(x), drx::slice<drx::all, drx::range<0, 1>>(x));
  };
  auto left = [](auto x) {
    return drx::concatenate<1>(drx::slice<drx::all, drx::range<63, 64>>(x), drx::slice<drx::all, drx::range<0, 63>>(x));
  };
  auto down = [](auto x) { return drx::concatenate(drx::slice<1, 64>(x), drx::slice<0, 1>(x)); };
  auto up = [](auto x) { return drx::concatenate(drx::slice<63, 64>(x), drx::slice<0, 63>(x)); };
  auto faster_u = u - 0.1f * (right(h) - left(h)), faster_v = v - 0.1f * (down(h) - up(h));
  auto flow_u = h * faster_u, flow_v = h * faster_v;
  return std::tuple{h - 0.1f * (right(flow_u) - left(flow_u) + down(flow_v) - up(flow_v)), faster_u, faster_v};
};
inline constexpr auto energy = [](auto h) {
  auto zero = drx::zeros<field>();
  auto [last, u, v] = drx::fori_loop<20>(std::tuple{h, zero, zero}, ahead);
  return drx::mean(drx::square(last) + last * (drx::square(u) + drx::square(v)));
};
inline constexpr auto slope = [](auto heights) {
  auto [value, gradient] = drx::map(drx::value_and_grad(energy), heights);
  return std::pair{drx::reduce_mean(value), drx::reduce_sum(gradient)};
};
using Program = drx::program<slope, drx::placed<field, basins>>;
}  // namespace shallow_water
