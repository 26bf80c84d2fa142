#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace spline {
struct curves : drx::placement<curves> {};
using knots = drx::array<double, 32>;
using places = drx::placed<drx::array<double, 100>, curves>;

inline constexpr auto bends = [](auto y) {  // second derivatives of a natural cubic spline: a tridiagonal system
  auto wanted = 6 * (drx::slice<2, 32>(y) - 2 * drx::slice<1, 31>(y) + drx::slice<0, 30>(y));
  auto zero = drx::zeros<drx::scalar<double>>();
  auto down = [](auto carry, auto d) {
    auto pivot = 4 - carry.first;
    auto row = std::pair{1 / pivot, (d - carry.second) / pivot};
    return std::pair{row, row};
  };
  auto rows = drx::scan(down, std::pair{zero, zero}, wanted).second;
  auto up = [](auto after, auto row) {
    auto m = row.second - row.first * after;
    return std::pair{m, m};
  };
  auto flipped = std::pair{drx::flip<0>(rows.first), drx::flip<0>(rows.second)};
  return drx::pad<1>(drx::flip<0>(drx::scan(up, zero, flipped).second));
};
inline constexpr auto error = [](auto y, auto x, auto wanted) {
  auto m = bends(y);
  auto i = drx::clamp(drx::cast<int>(drx::floor(x)), 0, 30);
  auto b = x - drx::cast<double>(i), a = 1 - b;
  auto at = drx::take(y, i), next = drx::take(y, i + 1), ma = drx::take(m, i), mb = drx::take(m, i + 1);
  auto value = a * at + b * next + ((a * a * a - a) * ma + (b * b * b - b) * mb) / 6;
  return drx::mean(drx::square(value - wanted));
};
inline constexpr auto all = [](auto y, auto x, auto wanted) {
  auto [errors, slopes] = drx::map(drx::value_and_grad(error), y, x, wanted);
  return std::pair{drx::reduce_mean(errors), slopes};
};
using Program = drx::program<all, drx::placed<knots, curves>, places, places>;
}  // namespace spline
