// Gaussian mixture model (ADBench; Srajer, Kukelova, Fitzgibbon 2018): the log posterior of n points in D dimensions by
// the K means, weights and inverse covariances of a mixture, with a Wishart prior, as ordinary C++, and its gradient by
// hand.
#pragma once

#include <drx/scalar/sum_over.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

namespace adbench {

template <std::size_t D, std::size_t K>
struct gmm {
  static constexpr std::size_t lower = D * (D - 1) / 2;
  // parameters: log weights, means, log diagonals, then lower triangles of the roots of the inverse covariances
  static constexpr std::size_t means = K, diagonals = means + K * D, triangles = diagonals + K * D,
                               parameters = triangles + K * lower;
  using vector = std::array<double, parameters>;
  using point = std::array<double, D>;

  std::size_t points = 0;
  double gamma = 1;
  double m = 0;

  [[nodiscard]] double constant() const {
    double log_gamma_d = 0.25 * D * (D - 1) * std::log(std::numbers::pi);
    const double n = D + m + 1;
    for (std::size_t j = 1; j <= D; ++j) log_gamma_d += std::lgamma(0.5 * n + 0.5 * (1 - static_cast<double>(j)));
    const double wishart = n * D * (std::log(gamma) - 0.5 * std::numbers::ln2) - log_gamma_d;
    return -static_cast<double>(points) * D * 0.5 * std::log(2 * std::numbers::pi) - K * wishart;
  }

  template <class T>
  struct shared {
    std::array<T, parameters> theta;
    std::array<std::array<T, D*(D + 1) / 2>, K> root;  // of the inverse covariances, by rows
    std::array<T, K> log_determinant;
  };
  template <class T>
  [[nodiscard]] shared<T> prepare(const std::array<T, parameters>& theta) const {
    using std::exp;
    shared<T> s{theta, {}, {}};
    for (std::size_t k = 0; k < K; ++k) {
      s.log_determinant[k] = 0;
      auto to = s.root[k].begin();
      const T* from = theta.data() + triangles + k * lower;
      for (std::size_t i = 0; i < D; from += i++) {
        to = std::copy(from, from + i, to);
        *to++ = exp(theta[diagonals + k * D + i]);
        s.log_determinant[k] += theta[diagonals + k * D + i];
      }
    }
    return s;
  }
  /// One point's term.
  template <class T, class X>
  T operator()(const shared<T>& s, const std::array<X, D>& x) const {
    std::array<T, K> term;
    for (std::size_t k = 0; k < K; ++k) {
      std::array<T, D> centred;
      for (std::size_t i = 0; i < D; ++i) centred[i] = x[i] - s.theta[means + k * D + i];
      std::array<T, D> y;
      if constexpr (drx::ad::Number<T>) {
        drx::ad::lower_matmul<D>(s.root[k], centred, y);
      } else {  // a peer's scalar
        for (std::size_t i = 0, at = 0; i < D; ++i) {
          y[i] = 0;
          for (std::size_t j = 0; j <= i; ++j) y[i] += s.root[k][at++] * centred[j];
        }
      }
      term[k] = s.theta[k] + s.log_determinant[k] - squares(y) / 2;
    }
    return log_sum_exp(term);
  }
  template <class T, std::size_t N>
  static T squares(const std::array<T, N>& y) {
    if constexpr (drx::ad::Number<T>) {
      return drx::ad::dot(y, y);
    } else {
      T sum = 0;
      for (const T& v : y) sum += v * v;
      return sum;
    }
  }
  /// The terms that do not depend on points.
  template <class T>
  T once(const shared<T>& s) const {
    std::array<T, K> weights;
    for (std::size_t k = 0; k < K; ++k) weights[k] = s.theta[k];
    T prior = 0;
    for (const auto& root : s.root) prior += squares(root);
    prior *= gamma * gamma / 2;
    for (const T& q : s.log_determinant) prior -= m * q;
    return prior - static_cast<double>(points) * log_sum_exp(weights) + constant();
  }
  template <class T>
  static T log_sum_exp(const std::array<T, K>& x) {
    using std::exp, std::log;
    auto most = drx::ad::value_of(x[0]);  // a shift: without influence on the result
    for (const T& v : x)
      if constexpr (drx::ad::Number<T>) {
        most = drx::ad::max(most, drx::ad::value_of(v));
      } else if (v > most) {
        most = v;
      }
    T sum = 0;
    for (const T& v : x) sum += exp(v - most);
    return log(sum) + most;
  }

  /// The whole log posterior.
  template <class T>
  [[nodiscard]] T value(const std::array<T, parameters>& t, const std::vector<point>& x) const {
    const auto s = prepare(t);
    T sum = once(s);
    for (const point& p : x) sum += (*this)(s, p);
    return sum;
  }
  /// Value and gradient, derived and written by hand.
  double by_hand(const vector& t, const std::vector<point>& x, vector& g) const {
    const auto s = prepare(t);
    double diagonal[K * D];
    for (std::size_t i = 0; i < K * D; ++i) diagonal[i] = std::exp(t[diagonals + i]);
    g = {};
    double sum = once(s);
    for (const point& p : x) {
      double centred[K][D], y[K][D], term[K];
      for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t i = 0; i < D; ++i) centred[k][i] = p[i] - t[means + k * D + i];
        const double* row = t.data() + triangles + k * lower;
        double square = 0;
        for (std::size_t i = 0; i < D; row += i++) {
          y[k][i] = diagonal[k * D + i] * centred[k][i];
          for (std::size_t j = 0; j < i; ++j) y[k][i] += row[j] * centred[k][j];
          square += y[k][i] * y[k][i];
        }
        term[k] = t[k] + s.log_determinant[k] - square / 2;
      }
      double most = term[0], total = 0;
      for (double v : term) most = v > most ? v : most;
      for (double& v : term) total += v = std::exp(v - most);
      sum += std::log(total) + most;
      for (std::size_t k = 0; k < K; ++k) {
        const double w = term[k] / total;
        g[k] += w;
        const double* row = t.data() + triangles + k * lower;
        double* to = g.data() + triangles + k * lower;
        double* mean = g.data() + means + k * D;
        for (std::size_t i = 0; i < D; row += i, to += i, ++i) {
          const double wy = w * y[k][i];
          g[diagonals + k * D + i] += w - wy * diagonal[k * D + i] * centred[k][i];
          mean[i] += wy * diagonal[k * D + i];
          for (std::size_t j = 0; j < i; ++j) {
            to[j] -= wy * centred[k][j];
            mean[j] += wy * row[j];
          }
        }
      }
    }
    double most = t[0], total = 0;
    for (std::size_t k = 0; k < K; ++k) most = t[k] > most ? t[k] : most;
    for (std::size_t k = 0; k < K; ++k) total += std::exp(t[k] - most);
    for (std::size_t k = 0; k < K; ++k) {
      g[k] -= static_cast<double>(points) * std::exp(t[k] - most) / total;
      for (std::size_t i = 0; i < D; ++i)
        g[diagonals + k * D + i] += gamma * gamma * diagonal[k * D + i] * diagonal[k * D + i] - m;
    }
    for (std::size_t i = triangles; i < parameters; ++i) g[i] += gamma * gamma * t[i];
    return sum;
  }
};

}  // namespace adbench
