#pragma once
#include <drx/drx.hpp>

namespace matrix_factorisation {
struct users : drx::placement<users> {};
using factors = drx::array<float, 500, 16>;
using own_factors = drx::array<float, 16>;
using ratings = std::pair<drx::array<std::int32_t, 24>, drx::array<float, 24>>;  // which items, and how good

inline constexpr auto error = [](auto items, auto own, auto rated) {
  auto [which, stars] = rated;
  auto seen = drx::take(items, which);
  return drx::sum(drx::square(drx::matmul(seen, own) - stars)) + 0.1f * (drx::sum(seen * seen) + drx::dot(own, own));
};
inline constexpr auto loss = [](auto items, auto own, auto rated) {
  return drx::reduce_sum(drx::map(error, drx::broadcast<users>(items), own, rated));
};
using Program = drx::program<drx::value_and_grad<0, 1>(loss), factors, drx::placed<own_factors, users>,
                             drx::placed<ratings, users>>;
}  // namespace matrix_factorisation
