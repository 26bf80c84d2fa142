#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace sparse_regression {
struct tasks : drx::placement<tasks> {};
using drx::array;

inline constexpr auto fitted = [](auto penalty, auto x, auto y) {  // 60 steps of soft thresholds, with momentum
  auto step = [=](auto carry) {
    auto [w, v] = carry;
    auto slope = drx::matmul(drx::transpose(x), drx::matmul(x, v) - y);
    auto moved = v - 0.004f * slope;
    auto next = drx::sign(moved) * drx::relu(drx::abs(moved) - 0.004f * penalty);
    return std::tuple{next, next + 0.8f * (next - w)};
  };
  auto none = drx::zeros<array<float, 100>>();
  return std::get<0>(drx::fori_loop<60>(std::tuple{none, none}, step));
};
inline constexpr auto error = [](auto penalty, auto x, auto y, auto other, auto wanted) {  // on other rows
  return drx::mean(drx::square(drx::matmul(other, fitted(penalty, x, y)) - wanted));
};
inline constexpr auto loss = [](auto penalty, auto x, auto y, auto other, auto wanted) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<tasks>(penalty), x, y, other, wanted));
};
using matrix = drx::placed<array<float, 60, 100>, tasks>;
using vector = drx::placed<array<float, 60>, tasks>;
using Program = drx::program<drx::value_and_grad(loss), float, matrix, vector, matrix, vector>;
}  // namespace sparse_regression
