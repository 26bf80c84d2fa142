#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace normal_equations {
struct users : drx::placement<users> {};
using ratings = std::pair<drx::array<float, 40, 8>, drx::array<float, 40>>;

inline constexpr auto error = [](auto ridge, auto mine) {  // of the user's own factors, which fit the ratings best
  auto [items, stars] = mine;
  auto gram = drx::matmul(drx::transpose(items), items) + ridge * drx::identity<drx::array<float, 8, 8>>();
  auto factors = drx::solve(gram, drx::matmul(drx::transpose(items), stars));
  return drx::sum(drx::square(drx::matmul(items, factors) - stars));
};
inline constexpr auto loss = [](auto ridge, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<users>(ridge), data));
};
using Program = drx::program<drx::value_and_grad(loss), float, drx::placed<ratings, users>>;
}  // namespace normal_equations
