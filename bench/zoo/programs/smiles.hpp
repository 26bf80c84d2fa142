#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace smiles {
struct expiries : drx::placement<expiries> {};
using strikes = drx::array<double, 21>;
using five = drx::array<double, 5>;

inline constexpr auto variances = [](auto p, auto k) {  // a hyperbola: level, slope, tilt, place and width
  auto away = k - drx::index<3>(p);
  auto root = drx::sqrt(drx::square(away) + drx::exp(2 * drx::index<4>(p)));
  return drx::index<0>(p) + drx::exp(drx::index<1>(p)) * (drx::tanh(drx::index<2>(p)) * away + root);
};
inline constexpr auto fitted = [](auto start, auto k, auto seen) {  // Levenberg and Marquardt's method
  auto rest = [=](auto p) { return variances(p, k) - seen; };
  auto step = [=](auto carry) {
    auto [p, damping] = carry;
    auto r = rest(p);
    auto j = drx::jacfwd(rest)(p);
    auto normal = drx::matmul(drx::transpose(j), j);
    auto damped = normal + damping * drx::diagonal_matrix(drx::diagonal(normal) + 1e-6);
    auto next = p - drx::solve(damped, drx::matmul(drx::transpose(j), r));
    auto better = drx::dot(rest(next), rest(next)) < drx::dot(r, r);
    auto factor = drx::where(better, drx::full<drx::scalar<double>>(0.3), 4);
    return std::tuple{drx::where(better, next, p), damping * factor};
  };
  auto [p, last] = drx::fori_loop<12>(std::tuple{start, drx::full<drx::scalar<double>>(0.1)}, step);
  return std::tuple{variances(p, k), drx::norm(rest(p))};  // (the five numbers are known less well)
};
inline constexpr auto all = [](auto start, auto k, auto seen) {
  return drx::map(fitted, drx::broadcast<expiries>(start), drx::broadcast<expiries>(k), seen);
};
using Program = drx::program<all, five, strikes, drx::placed<strikes, expiries>>;
}  // namespace smiles
