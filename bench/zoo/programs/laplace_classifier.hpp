#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace laplace_classifier {
struct tasks : drx::placement<tasks> {};
using points = drx::array<double, 24, 3>;
using labels = drx::array<double, 24>;                   // 1 or -1
using hyper = std::pair<double, drx::array<double, 3>>;  // logarithms of the variance and of a width for each feature

inline constexpr auto evidence = [](auto h, auto x, auto y) {  // of Gaussian-process classification, by Laplace
  auto [variance, widths] = h;
  auto scaled = x * drx::exp(-widths);
  auto apart = drx::sum<2>(drx::square(drx::expand_dims<1>(scaled) - scaled));
  auto unit = drx::identity<drx::array<double, 24, 24>>();
  auto k = drx::exp(variance - 0.5 * apart) + 1e-4 * unit;
  auto factor = [=](auto root) { return drx::cholesky(unit + drx::outer(root, root) * k); };
  auto newton = [=](auto carry) {
    auto [f, before] = carry;
    auto p = drx::sigmoid(f), weight = p * (1 - p), root = drx::sqrt(weight);
    auto b = weight * f + 0.5 * (y + 1) - p;
    auto l = factor(root);
    auto inner = drx::triangular_solve(l, root * drx::matmul(k, b));
    auto a = b - root * drx::triangular_solve<drx::transposed>(l, inner);
    return std::pair{drx::matmul(k, a), a};
  };
  auto zeros = drx::zeros<labels>();
  auto [f, a] = drx::fori_loop<8>(std::pair{zeros, zeros}, newton);
  auto p = drx::sigmoid(f);
  auto l = factor(drx::sqrt(p * (1 - p)));
  return -0.5 * drx::dot(a, f) - drx::sum(drx::softplus(-y * f)) - drx::sum(drx::log(drx::diagonal(l)));
};
inline constexpr auto mean = [](auto h, auto x, auto y) {
  return drx::reduce_mean(drx::map(evidence, drx::broadcast<tasks>(h), x, y));
};
using Program = drx::program<drx::value_and_grad(mean), hyper, drx::placed<points, tasks>, drx::placed<labels, tasks>>;
}  // namespace laplace_classifier
