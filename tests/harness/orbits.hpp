// Members with long loops over a few numbers, which alone leave vectors idle: they come in blocks of one size, and in
// groups.
#pragma once
#include <drx/drx.hpp>

namespace orbits {
struct stars : drx::placement<stars> {};
struct planets : drx::placement<planets> {};
struct moons : drx::placement<moons> {
  static constexpr std::int64_t most_members = 20;  // never a block
};
template <class T>
using start = std::pair<drx::array<T, 2>, drx::array<T, 2>>;

// Runge and Kutta's steps around a star, by the strength of its pull.
constexpr auto end = [](auto pull, auto own) {
  auto rate = [=](auto place) { return -pull * place / (drx::sum(drx::square(place)) * drx::norm(place) + 0.1); };
  auto step = [=](auto x, auto v) {
    const double h = 0.05;
    auto a = rate(x);
    auto w = v + h / 2 * a;
    auto b = rate(x + h / 2 * v);
    auto z = v + h / 2 * b;
    auto c = rate(x + h / 2 * w);
    auto y = v + h * c;
    auto d = rate(x + h * z);
    return std::pair{x + h / 6 * (v + 2 * w + 2 * z + y), v + h / 6 * (a + 2 * b + 2 * c + d)};
  };
  auto [x, v] = own;
  return drx::fori_loop<6>(std::pair{x, v}, [=](auto, auto s) { return step(s.first, s.second); });
};
constexpr auto miss = [](auto pull, auto own) { return drx::sum(drx::square(std::get<0>(end(pull, own)) - 0.5)); };

template <class Placement>
constexpr auto fit = [](auto pull, auto data) {
  auto loss = [=](auto p) { return drx::reduce_mean(drx::map(miss, drx::broadcast<Placement>(p), data)); };
  return drx::value_and_grad(loss)(pull);
};
// Each kind of result: folded, kept, and by the member's number.
constexpr auto all = [](auto pull, auto data) {
  auto ends = drx::map(
      [](auto p, auto own, auto i) {
        auto [x, v] = end(p, own);
        auto slope = drx::grad([=](auto q) { return miss(q, own); })(p);
        return std::tuple{x, v * drx::cast<double>(i + 1), drx::cast<int>(drx::sum(x) > 0.3), slope, own.first, i};
      },
      drx::broadcast<stars>(pull), data, drx::partition_index<stars>());
  auto x = drx::map([](auto e) { return std::get<0>(e); }, ends);
  return std::tuple{ends, drx::reduce_max(ends), drx::reduce_min(x), drx::reduce_mean(x), drx::reduce_sum(ends)};
};
// Members that have members.
template <class Inner>
constexpr auto nested = [](auto pull, auto data) {
  auto of_star = [](auto p, auto own) { return fit<Inner>(p, own); };
  auto each = drx::map(of_star, drx::broadcast<stars>(pull), data);
  return std::pair{each, drx::reduce_sum(each)};
};

using Fit = drx::program<fit<stars>, drx::scalar<double>, drx::placed<start<double>, stars>>;
using FitOfFloats = drx::program<fit<stars>, drx::scalar<float>, drx::placed<start<float>, stars>>;
using All = drx::program<all, drx::scalar<double>, drx::placed<start<double>, stars>>;
template <class Inner>
using Nested = drx::program<nested<Inner>, drx::scalar<double>, drx::placed<drx::placed<start<double>, Inner>, stars>>;
}  // namespace orbits
