#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace polytropes {
struct stars : drx::placement<stars> {};
using state = drx::array<double, 2>;  // density to the power 1 / n, and its slope

inline constexpr auto radius = [](auto shift, auto index) {  // Lane's and Emden's equation, to where the density ends
  auto n = index + shift, h = 0 * shift + 0.01;
  auto rate = [=](auto at, auto y) {
    auto density = drx::pow(drx::max(drx::index<0>(y), 0), n);
    return drx::stack(drx::index<1>(y), -density - 2 * drx::index<1>(y) / at);
  };
  auto step = [=](auto c) {
    auto [at, y, last] = c;
    auto a = rate(at, y), b = rate(at + h / 2, y + h / 2 * a), d = rate(at + h / 2, y + h / 2 * b),
         e = rate(at + h, y + h * d);
    return std::tuple{at + h, y + h / 6 * (a + 2 * b + 2 * d + e), drx::index<0>(y)};
  };
  auto start = drx::stack(1 - h * h / 6, -h / 3);
  auto [at, y, last] = drx::while_loop([](auto c) { return drx::index<0>(std::get<1>(c)) > 0; }, step,
                                       std::tuple{h, start, drx::index<0>(start)});
  return at - h * drx::index<0>(y) / (drx::index<0>(y) - last);
};
inline constexpr auto mean_radius = [](auto shift, auto indices) {
  auto mean = [=](auto s) { return drx::reduce_mean(drx::map(radius, drx::broadcast<stars>(s), indices)); };
  return drx::jvp(mean, shift, 0 * shift + 1);
};
using Program = drx::program<mean_radius, double, drx::placed<double, stars>>;
}  // namespace polytropes
