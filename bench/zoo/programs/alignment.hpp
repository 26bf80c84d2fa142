#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace alignment {
struct pairs : drx::placement<pairs> {};
using drx::array;
using cloud = array<float, 20, 3>;
using deformation = array<float, 3, 3>;

inline constexpr auto turn = [](auto x, auto y) {  // Kabsch's: the rotation that brings x nearest to y
  auto [u, s, vt] = drx::svd(drx::matmul(drx::transpose(x), y));
  auto flip = drx::sign(drx::determinant(drx::matmul(u, vt)));
  auto signs = drx::stack(0 * flip + 1, 0 * flip + 1, flip);
  return drx::matmul(u * drx::expand_dims<0>(signs), vt);
};
inline constexpr auto distance = [](auto bend, auto x, auto y) {  // of the shapes, behind a bend of all first ones
  auto from = drx::matmul(x - drx::mean<0>(x), bend), to = y - drx::mean<0>(y);
  return drx::mean(drx::square(drx::matmul(from, turn(from, to)) - to));
};
inline constexpr auto loss = [](auto bend, auto xs, auto ys) {
  return drx::reduce_mean(drx::map(distance, drx::broadcast<pairs>(bend), xs, ys));
};
using Program =
    drx::program<drx::value_and_grad(loss), deformation, drx::placed<cloud, pairs>, drx::placed<cloud, pairs>>;
}  // namespace alignment
