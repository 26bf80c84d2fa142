// tests/harness/filters.hpp: filters of series, whose covariances are the same for all series.
#pragma once

#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace filters {
struct series : drx::placement<series> {};
using two = drx::array<double, 2, 2>;
using seen = drx::array<double, 12, 2>;

inline constexpr auto filter = [](auto noise, auto y) {
  auto step = [=](auto carry, auto z) {
    auto [x, p, sum] = carry;
    auto s = p + noise * drx::identity<two>();
    auto inverse = drx::inverse(s);
    auto e = z - 0.9 * x;
    auto gain = drx::matmul(p, inverse);
    auto next = sum + drx::logdet(s) + drx::dot(e, drx::matmul(inverse, e));
    return std::pair{std::tuple{0.9 * x + drx::matmul(gain, e), 0.81 * (p - drx::matmul(gain, p)) + 0.2, next},
                     std::pair{drx::sum(gain), drx::sum(e)}};
  };
  auto start = std::tuple{drx::zeros<drx::array<double, 2>>(), drx::identity<two>(), drx::zeros<drx::scalar<double>>()};
  auto [last, kept] = drx::scan(step, start, y);
  auto [gains, errors] = kept;
  return std::tuple{std::get<2>(last), std::get<1>(last), gains, drx::sum(drx::square(errors))};
};
inline constexpr auto likelihood = [](auto noise, auto data) {
  auto loss = [=](auto v) {
    return drx::reduce_mean(
        drx::map([](auto n, auto y) { return std::get<0>(filter(n, y)); }, drx::broadcast<series>(v), data));
  };
  return drx::value_and_grad(loss)(noise);
};
using Likelihood = drx::program<likelihood, drx::scalar<double>, drx::placed<seen, series>>;
// Results that do not differ between members, too.
inline constexpr auto all_results = [](auto noise, auto data) {
  auto each = drx::map(filter, drx::broadcast<series>(noise), data);
  return std::pair{each, drx::reduce_sum(each)};
};
using AllResults = drx::program<all_results, drx::scalar<double>, drx::placed<seen, series>>;
}  // namespace filters
