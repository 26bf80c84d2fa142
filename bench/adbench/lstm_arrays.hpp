// Long short-term memory (lstm.hpp) as a program of arrays: a loop over the sequence, and in it one over the layers.
#pragma once

#include <drx/drx.hpp>

#include <cstdint>
#include <tuple>
#include <utility>

namespace adbench {

/// For each layer the weights and biases of four gates; then the weights of the input, and the weights and biases of
/// the output.
template <std::int64_t L, std::int64_t B>
using lstm_weights = std::tuple<drx::array<double, L, 4, 2, B>, drx::array<double, 3, B>>;

/// One layer of B units: its output, and its next state {hidden, cell}.
template <std::int64_t B>
inline constexpr auto lstm_layer = [](auto in, auto layer) {
  auto [gates, state] = layer;
  auto hidden = drx::index<0>(state), cell = drx::index<1>(state);
  auto weights = drx::reshape<4, B>(drx::slice<drx::all, drx::range<0, 1>>(gates));
  auto biases = drx::reshape<4, B>(drx::slice<drx::all, drx::range<1, 2>>(gates));
  auto z = drx::stack(in, hidden, in, hidden) * weights + biases;
  auto opened = drx::sigmoid(drx::slice<0, 3>(z));  // forget, input, output
  auto next = cell * drx::index<0>(opened) + drx::index<1>(opened) * drx::tanh(drx::index<3>(z));
  auto out = drx::index<2>(opened) * drx::tanh(next);
  return std::pair{out, drx::stack(out, next)};
};

/// Minus the mean log probability of each character after those before it; `sequence` has T characters of B numbers.
template <std::int64_t B, std::int64_t T>
inline constexpr auto lstm_loss = [](auto weights, auto start, auto sequence) {
  auto step = [layers = std::get<0>(weights), extra = std::get<1>(weights)](auto state, auto characters) {
    auto [now, then] = characters;
    auto [up, next] = drx::scan(lstm_layer<B>, now * drx::index<0>(extra), std::tuple{layers, state});
    auto y = up * drx::index<1>(extra) + drx::index<2>(extra);
    return std::pair{next, drx::sum(then * (y - drx::log(drx::sum(drx::exp(y)) + 2)))};  // ADBench's log(sum + 2)
  };
  auto [last, scores] =
      drx::scan(step, start, std::tuple{drx::slice<0, T - 1>(sequence), drx::slice<1, T>(sequence)}, drx::keep_all);
  return -drx::sum(scores) / static_cast<double>((T - 1) * B);
};

template <std::int64_t B, std::int64_t T>
inline constexpr auto gradient_of_lstm = [](auto weights, auto start, auto sequence) {
  return drx::value_and_grad(lstm_loss<B, T>)(weights, start, sequence);
};
template <std::int64_t L, std::int64_t B, std::int64_t T>
using lstm_program =
    drx::program<gradient_of_lstm<B, T>, lstm_weights<L, B>, drx::array<double, L, 2, B>, drx::array<double, T, B>>;

}  // namespace adbench
