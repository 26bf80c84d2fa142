#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace spiking {
struct clients : drx::placement<clients> {};
using drx::array;
using network = std::tuple<array<float, 64, 96>, array<float, 96, 96>, array<float, 96, 10>>;
using spikes = array<float, 50, 16, 64>;

// A spike where the voltage is above 1; its derivative is that of a fast sigmoid.
inline constexpr auto fire = drx::custom_jvp([](auto v) { return drx::cast<float>(v > 1.f); },
                                             [](auto v, auto t) { return t / drx::square(1 + 10 * drx::abs(v - 1)); });

inline constexpr auto error = [](auto net, auto input, auto labels) {
  auto [in, around, out] = net;
  auto step = [=](auto c, auto x) {
    auto [voltage, fired, score] = c;
    auto next = 0.9f * voltage * (1 - fired) + drx::matmul(x, in) + drx::matmul(fired, around);
    auto now = fire(next);
    return std::pair{std::tuple{next, now, 0.95f * score + drx::matmul(now, out)}, std::tuple{}};
  };
  auto rest = drx::zeros<array<float, 16, 96>>();
  auto end = drx::scan(step, std::tuple{rest, rest, drx::zeros<array<float, 16, 10>>()}, input).first;
  return drx::mean(drx::softmax_cross_entropy(0.1f * std::get<2>(end), labels));
};
inline constexpr auto loss = [](auto net, auto inputs, auto labels) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<clients>(net), inputs, labels));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<spikes, clients>,
                             drx::placed<array<int, 16>, clients>>;
}  // namespace spiking
