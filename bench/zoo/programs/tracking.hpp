#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace tracking {
struct tracks : drx::placement<tracks> {};
using drx::array;
using state = array<double, 4>;  // a place and a velocity
inline constexpr array<double, 4, 4> motion{{1., 0., 1., 0.}, {0., 1., 0., 1.}, {0., 0., 1., 0.}, {0., 0., 0., 1.}};
inline constexpr array<double, 4, 4> shake{
    {0.25, 0., 0.5, 0.}, {0., 0.25, 0., 0.5}, {0.5, 0., 1., 0.}, {0., 0.5, 0., 1.}};

inline constexpr auto sight = [](auto s) {  // a distance and a bearing
  auto x = drx::index<0>(s), y = drx::index<1>(s);
  return drx::stack(drx::sqrt(x * x + y * y), drx::atan2(y, x));
};
inline constexpr auto likelihood = [](auto noise, auto start, auto seen) {  // of an extended Kalman filter
  auto [walk, far, wide] = drx::tree_map([](auto x) { return drx::exp(x); }, noise);
  auto step = [=](auto c, auto z) {
    auto [mean, spread] = c;
    auto m = drx::matmul(motion, mean);
    auto p = drx::matmul(drx::matmul(motion, spread), drx::transpose(motion)) + walk * shake;
    auto h = drx::jacfwd(sight)(m);
    auto ht = drx::transpose(h);
    auto s = drx::matmul(drx::matmul(h, p), ht) + drx::diagonal_matrix(drx::stack(far, wide));
    auto off = z - sight(m);
    auto inverse = drx::inverse(s);
    auto gain = drx::matmul(drx::matmul(p, ht), inverse);
    return std::pair{std::pair{m + drx::matmul(gain, off), p - drx::matmul(drx::matmul(gain, h), p)},
                     drx::logdet(s) + drx::dot(off, drx::matmul(inverse, off))};
  };
  return -0.5 * drx::sum(drx::scan(step, std::pair{start, drx::identity<array<double, 4, 4>>()}, seen).second);
};
inline constexpr auto mean = [](auto noise, auto starts, auto seen) {
  return drx::reduce_mean(drx::map(likelihood, drx::broadcast<tracks>(noise), starts, seen));
};
using Program = drx::program<drx::value_and_grad(mean), std::tuple<double, double, double>, drx::placed<state, tracks>,
                             drx::placed<array<double, 60, 2>, tracks>>;
}  // namespace tracking
