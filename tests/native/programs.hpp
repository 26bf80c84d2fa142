// Programs that an executable plans: of each kind of step that a generated plan writes down.
#pragma once

#include <drx/drx.hpp>

#include <array>
#include <cmath>
#include <tuple>

namespace native_programs {
using drx::array, drx::placed;

struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};

using weights = array<double, 3, 4>;
using inputs_of_client = placed<array<double, 5, 3>, clients>;
using labels_of_client = placed<array<double, 5>, clients>;

inline constexpr auto loss = [](auto w, auto x, auto y) {
  auto hidden = drx::tanh(drx::matmul(x, w) + 1);
  return drx::sum(drx::square(drx::sum<1>(hidden) - y)) + drx::max(hidden);
};
inline constexpr auto round_of = [](auto w, auto rate, auto x, auto y) {
  const auto of_client = [=](auto v, auto a, auto b) {
    return drx::fori_loop<3>(v, [=](auto u) { return u - rate * drx::grad(loss)(u, a, b); });
  };
  return drx::reduce_mean(drx::map(of_client, drx::broadcast<clients>(w), x, y));
};
inline constexpr auto after_round = [](auto w, auto rate, auto x, auto y) {
  return drx::sum(drx::square(round_of(w, rate, x, y)));
};

using Round = drx::program<round_of, weights, double, inputs_of_client, labels_of_client>;
using Slope = drx::program<drx::value_and_grad<1>(after_round), weights, double, inputs_of_client, labels_of_client>;

/// Ordinary C++, which is differentiated as such.
struct distance {
  template <class S>
  S operator()(const std::array<S, 3>& a, S b) const {
    using std::sqrt;
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) * b;
  }
};
inline constexpr distance distance_of{};
inline constexpr auto with_call = [](auto x, auto scale) {
  const auto of_member = [](auto v, auto s) { return drx::call(distance_of, v, s); };
  const auto all = drx::map(of_member, x, drx::broadcast<clients>(scale));
  return std::tuple{drx::reduce_sum(all),
                    drx::reduce_max(drx::map(drx::grad(of_member), x, drx::broadcast<clients>(scale))), all};
};
using Call = drx::program<with_call, placed<array<double, 3>, clients>, double>;

inline constexpr auto with_branches = [](auto x, auto n) {
  const auto y =
      drx::cond(drx::sum(x) > 0, [](auto z) { return z * 2 + z; }, [](auto z) { return drx::sin(z) - z; }, x);
  const auto grown =
      drx::while_loop([](auto c) { return drx::sum(c) < 100; }, [=](auto c) { return c * c + y + 1; }, y);
  return std::tuple{grown,
                    drx::vmap([](auto z) { return drx::sum<0>(z) * array<double>(0.1); })(drx::stack<0>(x, y)) * n,
                    drx::argmax(x), drx::all_of(x > n)};
};
using Branches = drx::program<with_branches, array<double, 4>, double>;

inline constexpr auto nested = [](auto x, auto w) {
  const auto of_client = [](auto all, auto v) {
    return drx::reduce_mean(
        drx::map([](auto row, auto u) { return drx::tanh(row * u) / (1 + drx::sum(drx::exp(row))); }, all,
                 drx::broadcast<rows>(v)));
  };
  return drx::reduce_sum(drx::map(of_client, x, drx::broadcast<clients>(w)));
};
using Nested = drx::program<nested, placed<placed<array<float, 6>, rows>, clients>, array<float, 6>>;

}  // namespace native_programs
