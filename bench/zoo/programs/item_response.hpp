#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace item_response {
struct pupils : drx::placement<pupils> {};
using items = drx::array<float, 40>;
using answers = std::pair<drx::array<std::int32_t, 24>, drx::array<float, 24>>;  // which items, and whether right

inline constexpr auto likelihood = [](auto model, auto ability, auto mine) {
  auto [steepness, difficulty] = model;
  auto [item, right] = mine;
  auto score = drx::exp(drx::take(steepness, item)) * (ability - drx::take(difficulty, item));
  return drx::sum(right * score - drx::softplus(score)) - 0.5f * drx::square(ability);
};
inline constexpr auto loss = [](auto model, auto abilities, auto data) {
  return -drx::reduce_mean(drx::map(likelihood, drx::broadcast<pupils>(model), abilities, data));
};
using Program = drx::program<drx::value_and_grad(loss), std::pair<items, items>, drx::placed<float, pupils>,
                             drx::placed<answers, pupils>>;
}  // namespace item_response
