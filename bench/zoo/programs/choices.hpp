#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace choices {
struct people : drx::placement<people> {};
using drx::array;
using tastes = array<float, 6>;
// Of each of eight choices the five offers, the chosen one in front; and 32 draws of normal numbers.
using person = std::tuple<array<float, 8, 5, 6>, array<float, 32, 6>>;

inline constexpr auto likelihood = [](auto means, auto logs, auto own) {  // of a mixed logit model
  auto [offers, draws] = own;
  auto liked = drx::matmul(offers, drx::transpose(means + drx::exp(logs) * draws));  // {8, 5, 32}
  auto chosen = drx::index<0>(drx::transpose<1, 0, 2>(liked)) - drx::logsumexp<1>(liked);
  return drx::logsumexp(drx::sum<0>(chosen));
};
inline constexpr auto loss = [](auto means, auto logs, auto all) {
  return -drx::reduce_mean(drx::map(likelihood, drx::broadcast<people>(means), drx::broadcast<people>(logs), all));
};
using Program = drx::program<drx::value_and_grad<0, 1>(loss), tastes, tastes, drx::placed<person, people>>;
}  // namespace choices
