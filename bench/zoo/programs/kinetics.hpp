#pragma once
#include <drx/drx.hpp>

namespace kinetics {
struct vessels : drx::placement<vessels> {};
using vec3 = drx::array<double, 3>;

inline constexpr auto speeds = [](auto rates, auto y) {  // three substances, of which one reacts with itself
  auto a = drx::index<0>(y), b = drx::index<1>(y), c = drx::index<2>(y);
  auto first = drx::index<0>(rates) * a, second = drx::index<1>(rates) * b * c, third = drx::index<2>(rates) * b * b;
  return drx::stack(second - first, first - second - third, third);
};
inline constexpr auto after = [](auto rates, auto start) {  // 20 implicit steps, each by three of Newton's
  auto step = [=](auto y) {
    auto off = [=](auto next) { return next - y - 0.05 * speeds(rates, next); };
    return drx::fori_loop<3>(y, [=](auto next) { return next - drx::solve(drx::jacfwd(off)(next), off(next)); });
  };
  return drx::fori_loop<20>(start, step);
};
inline constexpr auto error = [](auto rates, auto start, auto seen) {
  return drx::sum(drx::square(after(drx::exp(rates), start) - seen));
};
inline constexpr auto loss = [](auto rates, auto starts, auto seen) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<vessels>(rates), starts, seen));
};
using Program = drx::program<drx::value_and_grad(loss), vec3, drx::placed<vec3, vessels>, drx::placed<vec3, vessels>>;
}  // namespace kinetics
