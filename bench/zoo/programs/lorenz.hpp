#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace lorenz {
struct cycles : drx::placement<cycles> {};
using states = drx::array<float, 16, 40>;  // an ensemble of Lorenz's 40 numbers on a circle

inline constexpr auto speed = [](auto x) {
  return (drx::roll<-1, 1>(x) - drx::roll<2, 1>(x)) * drx::roll<1, 1>(x) - x + 8;
};
inline constexpr auto forecast = [](auto x) {  // five steps of Runge and Kutta
  return drx::fori_loop<5>(x, [](auto y) {
    auto a = speed(y), b = speed(y + 0.005f * a), c = speed(y + 0.005f * b), d = speed(y + 0.01f * c);
    return y + (0.01f / 6) * (a + 2 * b + 2 * c + d);
  });
};
inline constexpr auto filter = [](auto start, auto key, auto observed) {  // every second number is seen, ten times
  auto cycle = [=](auto carry, auto y) {
    auto [x, number] = carry;
    x = forecast(x);
    auto drawn = drx::normal<float, 16, 20>(drx::fold_in(drx::random_key(key), number));
    auto at = drx::index<0>(drx::transpose<2, 0, 1>(drx::reshape<16, 20, 2>(x)));
    auto apart = x - drx::mean<0>(x), heights = at - drx::mean<0>(at);
    auto own = drx::matmul(drx::transpose(heights), heights) * (1 / 15.f) + drx::identity<drx::array<float, 20, 20>>();
    auto cross = drx::matmul(drx::transpose(heights), apart) * (1 / 15.f);
    auto next = x + drx::matmul(y + drawn - at, drx::solve(own, cross));
    return std::pair{std::pair{next, number + 1}, drx::mean(drx::square(drx::mean<0>(at) - y))};
  };
  auto [last, errors] = drx::scan(cycle, std::pair{start, drx::zeros<drx::scalar<std::int32_t>>()}, observed);
  return std::pair{drx::mean<0>(last.first), drx::mean(errors)};
};
inline constexpr auto all = [](auto start, auto keys, auto observed) {
  auto [means, errors] = drx::map(filter, drx::broadcast<cycles>(start), keys, observed);
  return std::pair{drx::reduce_mean(means), drx::reduce_mean(errors)};
};
using Program =
    drx::program<all, states, drx::placed<std::int64_t, cycles>, drx::placed<drx::array<float, 10, 20>, cycles>>;
}  // namespace lorenz
