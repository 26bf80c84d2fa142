#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace viterbi {
struct sequences : drx::placement<sequences> {};
using moves = drx::array<float, 8, 8>;
using means = drx::array<float, 8>;

inline constexpr auto decode = [](auto move, auto mean, auto y) {  // the likeliest states, and their logarithm
  auto ahead = drx::log_softmax(move);
  auto step = [=](auto best, auto seen) {
    auto paths = drx::reshape<8, 1>(best) + ahead;
    return std::pair{drx::max<0>(paths) - 0.5f * drx::square(seen - mean), drx::argmax<0>(paths)};
  };
  auto [best, from] = drx::scan(step, drx::zeros<means>(), y);
  auto back = [](auto state, auto before) { return std::pair{drx::index(before, state), state}; };
  auto states = std::get<1>(drx::scan(back, drx::argmax(best), drx::flip<0>(from)));
  return std::pair{drx::max(best), drx::flip<0>(states)};
};
inline constexpr auto decode_all = [](auto move, auto mean, auto data) {
  auto [score, states] = drx::map(decode, drx::broadcast<sequences>(move), drx::broadcast<sequences>(mean), data);
  return std::pair{drx::reduce_mean(score), drx::reduce_sum(states)};
};
using Program = drx::program<decode_all, moves, means, drx::placed<drx::array<float, 100>, sequences>>;
}  // namespace viterbi
