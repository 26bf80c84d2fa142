#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace kalman_filter {
struct series : drx::placement<series> {};
using four = drx::array<double, 4, 4>;
using two = drx::array<double, 2, 2>;
inline constexpr four f{{1., 0., 0.1, 0.}, {0., 1., 0., 0.1}, {0., 0., 1., 0.}, {0., 0., 0., 1.}};
inline constexpr drx::array<double, 2, 4> h{{1., 0., 0., 0.}, {0., 1., 0., 0.}};

inline constexpr auto likelihood = [](auto noise,
                                      auto y) {  // of 200 positions that were seen; the state has velocities
  auto [moved, seen] = noise;                    // logarithms of variances
  auto q = drx::exp(moved) * drx::identity<four>();
  auto r = drx::exp(seen) * drx::identity<two>();
  auto step = [=](auto carry, auto z) {
    auto [x, p, sum] = carry;
    auto ahead = drx::matmul(f, x);
    auto spread = drx::matmul(drx::matmul(f, p), drx::transpose(f)) + q;
    auto e = z - drx::matmul(h, ahead);
    auto s = drx::matmul(drx::matmul(h, spread), drx::transpose(h)) + r;
    auto inverse = drx::inverse(s);
    auto gain = drx::matmul(drx::matmul(spread, drx::transpose(h)), inverse);
    auto next = sum - 0.5 * (drx::logdet(s) + drx::dot(e, drx::matmul(inverse, e)));
    return std::pair{std::tuple{ahead + drx::matmul(gain, e), spread - drx::matmul(gain, drx::matmul(h, spread)), next},
                     std::tuple{}};
  };
  auto start =
      std::tuple{drx::zeros<drx::array<double, 4>>(), drx::identity<four>(), drx::zeros<drx::scalar<double>>()};
  return std::get<2>(std::get<0>(drx::scan(step, start, y)));
};
inline constexpr auto loss = [](auto noise, auto data) {
  return drx::reduce_mean(drx::map(likelihood, drx::broadcast<series>(noise), data));
};
using Program =
    drx::program<drx::value_and_grad(loss), std::pair<double, double>, drx::placed<drx::array<double, 200, 2>, series>>;
}  // namespace kalman_filter
