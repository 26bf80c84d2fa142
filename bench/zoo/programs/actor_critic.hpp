#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace actor_critic {
struct worlds : drx::placement<worlds> {};
using drx::array;
using network = std::tuple<array<float, 8, 32>, array<float, 32>, array<float, 32, 5>, array<float, 5>>;
using run = std::tuple<array<float, 64, 8>, array<int, 64>, array<float, 64>, array<float, 64>>;

inline constexpr auto seen = [](auto p, auto states) {  // of each state: the logarithms of four actions, and a value
  auto [w, b, out, c] = p;
  auto both = drx::matmul(drx::tanh(drx::matmul(states, w) + b), out) + c;
  return std::pair{drx::log_softmax(drx::slice<drx::all, drx::range<0, 4>>(both)), drx::index<4>(drx::transpose(both))};
};
inline constexpr auto advantages = [](auto value, auto reward) {  // generalised: of all steps ahead, discounted
  auto next = drx::concatenate(drx::slice<1, 64>(value), drx::zeros<array<float, 1>>());
  auto surprise = drx::flip<0>(reward + 0.99f * next - value);
  auto step = [](auto ahead, auto own) { return std::pair{own + 0.9405f * ahead, own + 0.9405f * ahead}; };
  return drx::flip<0>(drx::scan(step, drx::zeros<drx::scalar<float>>(), surprise).second);
};
inline constexpr auto loss = [](auto p, auto runs) {  // proximal policy optimisation
  auto both = drx::map([](auto q, auto r) { return seen(q, std::get<0>(r)); }, drx::broadcast<worlds>(p), runs);
  auto own_gains = [](auto s, auto r) { return drx::stop_gradient(advantages(s.second, std::get<2>(r))); };
  auto gains = drx::map(own_gains, both, runs);
  auto moments = drx::reduce_mean(drx::map([](auto g) { return std::pair{drx::mean(g), drx::mean(g * g)}; }, gains));
  auto one = [=](auto s, auto gain, auto r) {
    auto better = (gain - moments.first) * drx::rsqrt(moments.second - drx::square(moments.first) + 1e-6f);
    auto own = drx::squeeze(drx::take_along<1>(s.first, drx::expand_dims<1>(std::get<1>(r))));
    auto ratio = drx::exp(own - std::get<3>(r));
    auto kept = drx::min(ratio * better, drx::clamp(ratio, 0.8f, 1.2f) * better);
    auto miss = drx::square(s.second - drx::stop_gradient(s.second) - gain);
    return drx::mean(0.5f * miss - kept) + 0.01f * drx::sum(drx::exp(s.first) * s.first) / 64;
  };
  return drx::reduce_mean(drx::map(one, both, gains, runs));
};
using Program = drx::program<drx::value_and_grad(loss), network, drx::placed<run, worlds>>;
}  // namespace actor_critic
