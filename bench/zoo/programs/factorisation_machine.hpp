#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace factorisation_machine {
struct rows : drx::placement<rows> {};
using drx::array;
using model = std::tuple<float, array<float, 2000>, array<float, 2000, 16>>;  // a bias, weights, factors

inline constexpr auto error = [](auto m, auto features, auto clicked) {
  auto [bias, weights, factors] = m;
  auto own = drx::take(factors, features);  // {10, 16}
  auto pairs = drx::sum(drx::square(drx::sum<0>(own)) - drx::sum<0>(drx::square(own)));
  auto score = bias + drx::sum(drx::take(weights, features)) + 0.5f * pairs;
  return drx::softplus(score) - clicked * score;
};
inline constexpr auto loss = [](auto m, auto features, auto clicked) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(m), features, clicked));
};
using Program = drx::program<drx::value_and_grad(loss), model, drx::placed<array<std::int32_t, 10>, rows>,
                             drx::placed<float, rows>>;
}  // namespace factorisation_machine
