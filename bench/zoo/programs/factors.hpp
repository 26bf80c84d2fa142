#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace factors {
struct films : drx::placement<films> {};
using film = drx::array<float, 48, 60>;  // 48 pixels, 60 pictures
using parts = std::pair<drx::array<float, 48, 6>, drx::array<float, 6, 60>>;

inline constexpr auto split = [](auto x, auto start) {  // 25 multiplicative steps to non-negative factors
  auto step = [=](auto c) {
    auto [w, h] = c;
    auto wt = drx::transpose(w);
    auto next = h * drx::matmul(wt, x) / (drx::matmul(drx::matmul(wt, w), h) + 1e-6f);
    auto ht = drx::transpose(next);
    return std::pair{w * drx::matmul(x, ht) / (drx::matmul(w, drx::matmul(next, ht)) + 1e-6f), next};
  };
  auto [w, h] = drx::fori_loop<25>(start, step);
  return std::tuple{drx::sum(drx::square(x - drx::matmul(w, h))), w, h};
};
inline constexpr auto fit = [](auto x, auto starts) {
  auto [error, w, h] = drx::map(split, x, starts);
  return std::tuple{drx::reduce_mean(error), drx::reduce_mean(w), drx::reduce_mean(h)};
};
using Program = drx::program<fit, drx::placed<film, films>, drx::placed<parts, films>>;
}  // namespace factors
