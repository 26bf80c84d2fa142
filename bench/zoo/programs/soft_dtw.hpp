#pragma once
#include <drx/drx.hpp>

#include <limits>
#include <tuple>

namespace soft_dtw {
struct pairs : drx::placement<pairs> {};
using series = drx::array<float, 32>;

inline constexpr auto softmin = [](auto a, auto b, auto c) { return -drx::logsumexp(-drx::stack(a, b, c)); };
inline constexpr auto distance = [](auto x, auto y) {  // soft dynamic time warping: a row of the table for each x
  auto infinite = drx::full<drx::scalar<float>>(std::numeric_limits<float>::infinity());
  auto row = [=](auto state, auto xi) {
    auto [corner, above] = state;  // the row above, and the number left of it
    auto cell = [=](auto carry, auto inputs) {
      auto [left, diagonal] = carry;
      auto [yj, up] = inputs;
      auto here = drx::square(xi - yj) + softmin(left, diagonal, up);
      return std::pair{std::pair{here, up}, here};
    };
    auto [last, here] = drx::scan(cell, std::pair{infinite, corner}, std::pair{y, above});
    return std::pair{std::pair{infinite, here}, std::tuple{}};
  };
  auto above = drx::full<series>(std::numeric_limits<float>::infinity());
  auto [last, none] = drx::scan(row, std::pair{drx::zeros<drx::scalar<float>>(), above}, x);
  return drx::index<31>(last.second);
};
inline constexpr auto distances = [](auto x, auto y) {
  auto [values, slopes] = drx::map(drx::value_and_grad(distance), x, y);
  return std::pair{drx::reduce_mean(values), slopes};
};
using Program = drx::program<distances, drx::placed<series, pairs>, drx::placed<series, pairs>>;
}  // namespace soft_dtw
