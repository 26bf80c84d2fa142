#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace cart_pole {
struct starts : drx::placement<starts> {};
using drx::array;
using policy = std::tuple<array<float, 4, 16>, array<float, 16>, array<float, 16>>;

inline constexpr auto cost = [](auto p, auto start) {  // of 60 steps
  auto [w, b, out] = p;
  auto step = [=](auto carry) {
    auto [s, total] = carry;
    auto force = 10 * drx::tanh(drx::dot(drx::tanh(drx::matmul(s, w) + b), out));
    auto v = drx::index<1>(s), angle = drx::index<2>(s), turn = drx::index<3>(s);
    auto sine = drx::sin(angle), cosine = drx::cos(angle);
    auto pushed = (force + 0.05f * turn * turn * sine) / 1.1f;
    auto turned = (9.8f * sine - cosine * pushed) / (0.5f * (1.333333f - cosine * cosine / 11));
    auto moved = pushed - turned * cosine * 0.0454545f;
    auto next = s + 0.02f * drx::stack(v, moved, turn, turned);
    return std::tuple{next, total + 1 - drx::cos(drx::index<2>(next)) + 0.01f * drx::square(drx::index<0>(next))};
  };
  return std::get<1>(drx::fori_loop<60>(std::tuple{start, drx::zeros<drx::scalar<float>>()}, step));
};
inline constexpr auto mean_cost = [](auto p, auto all) {
  return drx::reduce_mean(drx::map(cost, drx::broadcast<starts>(p), all));
};
using Program = drx::program<drx::value_and_grad(mean_cost), policy, drx::placed<array<float, 4>, starts>>;
}  // namespace cart_pole
