// The loss after a round of federated averaging, and its derivatives by the learning rate, which are programs of 46,
// 156, 361 and 1003 steps.
#pragma once

#include <drx/drx.hpp>

namespace derivatives {
using drx::array, drx::placed;

struct clients : drx::placement<clients> {
  static constexpr std::int64_t most_members = 5;  // no bodies for blocks of clients are compiled
};

struct network {  // 4-6-3
  template <class V, class W, class X>
  constexpr auto operator()(const V& v, const W& w, const X& x) const {
    return drx::matmul(drx::tanh(drx::matmul(x, v)), w);
  }
};
inline constexpr auto loss = [](auto p, auto x, auto y) {
  auto [v, w] = p;
  return drx::mean(drx::square(network{}(v, w, x) - y));
};
inline constexpr auto after_round = [](auto p, auto rate, auto x, auto y) {
  const auto of_client = [=](auto start, auto r, auto a, auto b) {
    return drx::fori_loop<3>(start, [=](auto q) {
      return drx::tree_map([=](auto u, auto g) { return u - r * g; }, q, drx::grad(loss)(q, a, b));
    });
  };
  auto trained = drx::reduce_mean(drx::map(of_client, drx::broadcast<clients>(p), drx::broadcast<clients>(rate), x, y));
  return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(trained), x, y));
};
inline constexpr auto first = drx::grad<1>(after_round);
inline constexpr auto second = drx::grad<1>(first);
inline constexpr auto third = drx::grad<1>(second);

using parameters = std::tuple<array<double, 4, 6>, array<double, 6, 3>>;
template <auto F>
using of =
    drx::program<F, parameters, double, placed<array<double, 8, 4>, clients>, placed<array<double, 8, 3>, clients>>;
using Loss = of<after_round>;
using First = of<first>;
using Second = of<second>;
using Third = of<third>;

}  // namespace derivatives
