#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace heat_equation {
struct rods : drx::placement<rods> {};
using field = drx::array<float, 64>;

inline constexpr auto error = [](auto conductivity, auto rod) {  // after 100 steps; the ends are cold
  auto [start, seen] = rod;
  auto step = [=](auto t) {
    auto padded = drx::pad<1, 1>(t);
    auto flow = conductivity * (drx::slice<1, 66>(padded) - drx::slice<0, 65>(padded));
    return t + 0.2f * (drx::slice<1, 65>(flow) - drx::slice<0, 64>(flow));
  };
  return drx::mean(drx::square(drx::fori_loop<100>(start, step) - seen));
};
inline constexpr auto loss = [](auto conductivity, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rods>(conductivity), data));
};
using Program =
    drx::program<drx::value_and_grad(loss), drx::array<float, 65>, drx::placed<std::pair<field, field>, rods>>;
}  // namespace heat_equation
