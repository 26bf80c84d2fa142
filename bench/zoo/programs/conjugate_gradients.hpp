#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace conjugate_gradients {
struct rows : drx::placement<rows> {};
using vector = drx::array<float, 64>;

inline constexpr auto times = [](auto v, auto data) {  // by the normal equations' matrix
  return v +
         drx::reduce_mean(drx::map([](auto p, auto x) { return x * drx::dot(x, p); }, drx::broadcast<rows>(v), data));
};
inline constexpr auto solved = [](auto b, auto data) {
  auto step = [=](auto state) {
    auto [w, r, p] = state;
    auto ap = times(p, data);
    auto rate = drx::dot(r, r) / drx::dot(p, ap);
    auto next = r - rate * ap;
    return std::tuple{w + rate * p, next, next + p * (drx::dot(next, next) / drx::dot(r, r))};
  };
  return std::get<0>(drx::fori_loop<5>(std::tuple{drx::zeros<vector>(), b, b}, step));
};
using Program = drx::program<solved, vector, drx::placed<vector, rows>>;
}  // namespace conjugate_gradients
