#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace linear_bandit {
struct runs : drx::placement<runs> {};
using features = drx::array<float, 8>;
using arms = drx::array<float, 10, 8>;

inline constexpr auto reward_of_run = [](auto truth, auto width, auto x, auto number) {  // LinUCB, 50 steps
  auto key = drx::fold_in(drx::random_key(9), number);
  auto pull = [=](auto i, auto state) {
    auto [inverse, b, total] = state;
    auto spread = drx::sum<1>(drx::matmul(x, inverse) * x);
    auto bound = drx::matmul(x, drx::matmul(inverse, b)) + width * drx::sqrt(spread);
    auto chosen = drx::index(x, drx::argmax(bound));
    auto reward = drx::dot(chosen, truth) + 0.3f * drx::normal<float>(drx::fold_in(key, i));
    auto v = drx::matmul(inverse, chosen);  // the inverse of a matrix with one more row
    auto next = inverse - drx::outer(v, v) / (1 + drx::dot(v, chosen));
    return std::tuple{next, b + reward * chosen, total + reward};
  };
  auto start =
      std::tuple{drx::identity<drx::array<float, 8, 8>>(), drx::zeros<features>(), drx::zeros<drx::scalar<float>>()};
  return std::get<2>(drx::fori_loop<50>(start, pull)) / 50;
};
inline constexpr auto mean_reward = [](auto truth, auto width, auto x, auto numbers) {
  return drx::reduce_mean(
      drx::map(reward_of_run, drx::broadcast<runs>(truth), drx::broadcast<runs>(width), x, numbers));
};
using Program = drx::program<mean_reward, features, float, drx::placed<arms, runs>, drx::placed<std::int32_t, runs>>;
}  // namespace linear_bandit
