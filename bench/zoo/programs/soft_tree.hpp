#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace soft_tree {
struct rows : drx::placement<rows> {};
using tree = std::tuple<drx::array<float, 15, 16>, drx::array<float, 15>, drx::array<float, 16, 4>>;

template <int Level>
constexpr auto reached(auto chances, auto right) {  // the chances of a level's nodes, from those of the level above
  if constexpr (Level == 4) {
    return chances;
  } else {
    auto turn = drx::slice<(1 << Level) - 1, (2 << Level) - 1>(right);
    auto below = drx::stack(chances * (1 - turn), chances * turn);
    return reached<Level + 1>(drx::reshape<(2 << Level)>(drx::transpose(below)), right);
  }
}
inline constexpr auto error = [](auto t, auto x, auto label) {
  auto [weights, offsets, leaves] = t;
  auto chances = reached<0>(drx::ones<drx::array<float, 1>>(), drx::sigmoid(drx::matmul(weights, x) + offsets));
  return -drx::log(drx::dot(chances, drx::index(drx::transpose(drx::softmax(leaves)), label)));
};
inline constexpr auto loss = [](auto t, auto x, auto labels) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(t), x, labels));
};
using Program = drx::program<drx::value_and_grad(loss), tree, drx::placed<drx::array<float, 16>, rows>,
                             drx::placed<std::int32_t, rows>>;
}  // namespace soft_tree
