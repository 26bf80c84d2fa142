#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace bandit {
struct runs : drx::placement<runs> {};
using arms = drx::array<float, 10>;

inline constexpr auto reward_of_run = [](auto means, auto rate, auto seed) {  // of 100 pulls, by gradients of a policy
  auto key = drx::fold_in(drx::random_key(3), seed);
  auto pull = [=](auto i, auto state) {
    auto [preference, total, average] = state;
    auto own = drx::fold_in(key, i);
    auto policy = drx::softmax(preference);
    auto chosen = drx::one_hot<float, 10>(drx::argmax(preference + drx::gumbel<float, 10>(own)));
    auto reward = drx::dot(chosen, means) + drx::index<0>(drx::uniform<float, 1>(drx::fold_in(own, 1), -0.5, 0.5));
    return std::tuple{preference + rate * (reward - average) * (chosen - policy), total + reward,
                      average + 0.1f * (reward - average)};
  };
  auto zero = drx::zeros<drx::scalar<float>>();
  return std::get<1>(drx::fori_loop<100>(std::tuple{drx::zeros<arms>(), zero, zero}, pull));
};
inline constexpr auto mean_reward = [](auto means, auto rate, auto seeds) {
  return drx::reduce_mean(drx::map(reward_of_run, drx::broadcast<runs>(means), drx::broadcast<runs>(rate), seeds));
};
using Program = drx::program<mean_reward, arms, float, drx::placed<std::int32_t, runs>>;
}  // namespace bandit
