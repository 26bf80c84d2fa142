#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace hidden_markov {
struct sequences : drx::placement<sequences> {};
using moves = drx::array<float, 8, 8>;
using means = drx::array<float, 8>;

inline constexpr auto likelihood = [](auto model, auto y) {  // forward algorithm, with logarithms
  auto [move, mean] = model;
  auto ahead = drx::log_softmax(move);
  auto step = [=](auto alpha, auto seen) {
    auto moved = drx::log_matmul(alpha, ahead);
    return std::pair{moved - 0.5f * drx::square(seen - mean), std::tuple{}};
  };
  return drx::logsumexp(std::get<0>(drx::scan(step, drx::zeros<means>(), y)));
};
inline constexpr auto loss = [](auto model, auto data) {
  return -drx::reduce_mean(drx::map(likelihood, drx::broadcast<sequences>(model), data));
};
using Program =
    drx::program<drx::value_and_grad(loss), std::pair<moves, means>, drx::placed<drx::array<float, 100>, sequences>>;
}  // namespace hidden_markov
