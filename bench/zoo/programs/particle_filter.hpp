#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace particle_filter {
struct series : drx::placement<series> {};
using particles = drx::array<float, 64>;

inline constexpr auto likelihood = [](auto y, auto number) {  // of a state that is seen by its exponential
  auto key = drx::fold_in(drx::random_key(5), number);
  auto step = [=](auto i, auto state) {
    auto [x, total] = state;
    auto own = drx::fold_in(key, i);
    auto moved = 0.9f * x + 0.4f * drx::normal<float, 64>(own);
    auto logs = -0.5f * drx::square(drx::index(y, i) - drx::exp(moved));
    auto ends = drx::cumsum(drx::softmax(logs));
    auto at = (drx::iota<particles>() + drx::uniform<float>(drx::fold_in(own, 1))) / 64;
    auto before = drx::reshape<64, 1>(at) > ends;  // systematic resampling: how many particles end before it
    auto chosen = drx::take(moved, drx::sum<1>(drx::cast<int>(before)));
    return std::tuple{chosen, total + drx::logsumexp(logs) - 4.158883f};
  };
  auto first = drx::normal<float, 64>(drx::fold_in(key, 30));
  return std::get<1>(drx::fori_loop<30>(std::tuple{first, drx::zeros<drx::scalar<float>>()}, step));
};
inline constexpr auto mean_likelihood = [](auto data, auto numbers) {
  return drx::reduce_mean(drx::map(likelihood, data, numbers));
};
using Program =
    drx::program<mean_likelihood, drx::placed<drx::array<float, 30>, series>, drx::placed<std::int32_t, series>>;
}  // namespace particle_filter
