// Gaussian mixture model (gmm.hpp) as a program of arrays: points are placed, their terms are mapped and summed.
#pragma once

#include <drx/drx.hpp>

#include <cstdint>
#include <numbers>
#include <tuple>
#include <utility>

namespace adbench {

inline constexpr double log_pi = 1.1447298858494002;  // std::log is not constexpr

struct points : drx::placement<points> {};

/// Log weights, means, log diagonals and lower triangles by rows of the roots of the inverse covariances.
template <std::int64_t D, std::int64_t K>
using mixture = std::tuple<drx::array<double, K>, drx::array<double, K, D>, drx::array<double, K, D>,
                           drx::array<double, K, D*(D - 1) / 2>>;

/// The position of each element of a root in the list of its diagonal, its lower triangle and a zero.
template <std::int64_t D>
inline constexpr auto places_in_root = []<std::int64_t... At>(std::integer_sequence<std::int64_t, At...>) {
  const auto place = [](std::int64_t i, std::int64_t j) {
    return j < i ? D + i * (i - 1) / 2 + j : j == i ? i : D * (D + 1) / 2;
  };
  return drx::array<std::int64_t, D, D>(place(At / D, At % D)...);
}(std::make_integer_sequence<std::int64_t, D * D>{});

/// The log posterior by the mixture, with a Wishart prior of scale gamma and m further degrees of freedom.
template <std::int64_t D, std::int64_t K>
inline constexpr auto log_posterior = [](auto theta, auto gamma, auto m, auto data) {
  auto [weights, means, log_diagonals, triangles] = theta;
  auto diagonals = drx::exp(log_diagonals);
  auto log_determinants = drx::sum<1>(log_diagonals);
  auto elements = drx::concatenate<1>(diagonals, triangles, drx::zeros<drx::array<double, K, 1>>());
  auto roots = drx::take<1>(elements, drx::constant(places_in_root<D>));
  auto of_point = [roots, centres = means, scales = weights + log_determinants](auto x) {
    auto y = drx::matmul(roots, drx::reshape<K, D, 1>(x - centres));
    return drx::logsumexp(scales - drx::sum<1, 2>(drx::square(y)) / 2);
  };
  auto prior = gamma * gamma / 2 * (drx::sum(drx::square(diagonals)) + drx::sum(drx::square(triangles))) -
               m * drx::sum(log_determinants);
  auto n = drx::count<double>(data), degrees = m + (D + 1);  // of freedom
  auto log_gamma =
      drx::sum(drx::lgamma((degrees - drx::iota<drx::array<double, D>>()) / 2)) + 0.25 * D * (D - 1) * log_pi;
  auto wishart = degrees * D * (drx::log(gamma) - std::numbers::ln2 / 2) - log_gamma;
  auto constant = -0.5 * D * (std::numbers::ln2 + log_pi) * n - K * wishart;
  return drx::reduce_sum(drx::map(of_point, data)) + prior - n * drx::logsumexp(weights) + constant;
};

template <std::int64_t D, std::int64_t K>
inline constexpr auto gradient_of_mixture = [](auto theta, auto gamma, auto m, auto data) {
  return drx::value_and_grad(log_posterior<D, K>)(theta, gamma, m, data);
};
template <std::int64_t D, std::int64_t K>
using mixture_program =
    drx::program<gradient_of_mixture<D, K>, mixture<D, K>, double, double, drx::placed<drx::array<double, D>, points>>;

}  // namespace adbench
