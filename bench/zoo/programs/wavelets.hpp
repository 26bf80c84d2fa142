#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace wavelets {
struct signals : drx::placement<signals> {};
constexpr int length = 256;
using signal = drx::array<float, length>;
using thresholds = drx::array<float, 5>;  // one for each level

template <int Level>
constexpr auto cleaned(auto x, auto limits) {  // Haar's transform with its details shrunk, and back
  if constexpr (Level == 5) {
    return x;
  } else {
    constexpr int n = length >> (Level + 1);
    auto pairs = drx::transpose(drx::reshape<n, 2>(x));
    auto even = drx::index<0>(pairs), odd = drx::index<1>(pairs);
    auto detail = (even - odd) * 0.70710678f, limit = drx::index<Level>(limits);
    auto kept = drx::relu(detail - limit) - drx::relu(-detail - limit);
    auto rest = cleaned<Level + 1>((even + odd) * 0.70710678f, limits);
    return drx::reshape<2 * n>(drx::transpose(drx::stack(rest + kept, rest - kept))) * 0.70710678f;
  }
}
inline constexpr auto error = [](auto limits, auto noisy, auto truth) {
  return drx::mean(drx::square(cleaned<0>(noisy, drx::exp(limits)) - truth));
};
inline constexpr auto loss = [](auto limits, auto noisy, auto truths) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<signals>(limits), noisy, truths));
};
using Program =
    drx::program<drx::value_and_grad(loss), thresholds, drx::placed<signal, signals>, drx::placed<signal, signals>>;
}  // namespace wavelets
