#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace lqr {
struct plants : drx::placement<plants> {};
using states = drx::array<double, 4, 4>;
using inputs = drx::array<double, 4, 2>;

inline constexpr auto cost = [](auto weights, auto a, auto b, auto start) {  // of the best feedback over 50 steps
  auto [own, effort] = weights;
  auto q = drx::diagonal_matrix(drx::exp(own)), r = drx::diagonal_matrix(drx::exp(effort));
  auto riccati = [=](auto p) {
    auto pa = drx::matmul(p, a), pb = drx::matmul(p, b);
    auto gain = drx::solve(r + drx::matmul(drx::transpose(b), pb), drx::matmul(drx::transpose(b), pa));
    return q + drx::matmul(drx::transpose(a), pa - drx::matmul(pb, gain));
  };
  auto p = drx::fori_loop<50>(q, riccati);
  return drx::dot(start, drx::matmul(p, start));
};
inline constexpr auto loss = [](auto weights, auto a, auto b, auto starts) {
  return drx::reduce_mean(drx::map(cost, drx::broadcast<plants>(weights), a, b, starts));
};
using Program =
    drx::program<drx::value_and_grad(loss), std::pair<drx::array<double, 4>, drx::array<double, 2>>,
                 drx::placed<states, plants>, drx::placed<inputs, plants>, drx::placed<drx::array<double, 4>, plants>>;
}  // namespace lqr
