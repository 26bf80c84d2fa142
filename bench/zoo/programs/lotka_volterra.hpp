#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace lotka_volterra {
struct runs : drx::placement<runs> {};
using rates = drx::array<double, 4>;
using seen = std::tuple<drx::array<double, 2>, drx::array<double, 2>>;  // at the start and at the end

inline constexpr auto error = [](auto r, auto run) {
  auto [start, end] = run;
  auto slope = [=](auto z) {
    auto x = drx::index<0>(z), y = drx::index<1>(z);
    return drx::stack(x * (drx::index<0>(r) - drx::index<1>(r) * y), y * (drx::index<2>(r) * x - drx::index<3>(r)));
  };
  constexpr double h = 0.02;
  auto last = drx::fori_loop<100>(start, [=](auto z) {  // Runge and Kutta's method
    auto a = slope(z), b = slope(z + h / 2 * a), c = slope(z + h / 2 * b), d = slope(z + h * c);
    return z + h / 6 * (a + 2 * b + 2 * c + d);
  });
  return drx::sum(drx::square(last - end));
};
inline constexpr auto loss = [](auto r, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<runs>(r), data));
};
using Program = drx::program<drx::value_and_grad(loss), rates, drx::placed<seen, runs>>;
}  // namespace lotka_volterra
