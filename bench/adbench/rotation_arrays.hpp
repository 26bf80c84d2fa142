// The rotation by a vector, axis times angle, as a matrix (Rodrigues).
#pragma once

#include <drx/drx.hpp>

#include <cstdint>

namespace adbench {

inline constexpr drx::array<std::int32_t, 3, 3> places_in_skew{0, 2, 1, 2, 0, 0, 1, 0, 0};
inline constexpr drx::array<double, 3, 3> signs_in_skew{0, -1, 1, 1, 0, -1, -1, 1, 0};
inline constexpr drx::array<double, 3, 3> unit_matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};

inline constexpr auto rotation = [](auto v) {
  auto cross = drx::take(v, drx::constant(places_in_skew)) * drx::constant(signs_in_skew);  // cross x = v cross x
  auto square = drx::dot(v, v);
  auto first_order = [=] { return cross + drx::constant(unit_matrix); };
  auto by_angle = [=] {
    auto angle = drx::sqrt(square);
    return drx::constant(unit_matrix) + drx::sin(angle) / angle * cross +
           (1 - drx::cos(angle)) / square * drx::matmul(cross, cross);
  };
  return drx::cond(square > 0, by_angle, first_order);
};

}  // namespace adbench
