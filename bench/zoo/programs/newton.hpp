#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace newton {
struct rows : drx::placement<rows> {};
using row = std::pair<drx::array<double, 20>, double>;

inline constexpr auto error = [](auto w, auto r) {  // logistic loss, labels -1 and 1
  auto [x, y] = r;
  return drx::softplus(-y * drx::dot(w, x));
};
inline constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(w), data)) + 0.01 * drx::dot(w, w);
};
inline constexpr auto step = [](auto w, auto data) {
  auto of_w = [=](auto v) { return loss(v, data); };
  return w - drx::solve(drx::hessian(of_w)(w), drx::grad(of_w)(w));
};
using Program = drx::program<step, drx::array<double, 20>, drx::placed<row, rows>>;
}  // namespace newton
