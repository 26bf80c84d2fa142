// Products of a constant matrix and a matrix of duals, computed in blocks: against a plain loop, at shapes that fill
// blocks and such that do not.
#include <drx/scalar/wide.hpp>

#include "harness/difference.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ad = drx::ad;

namespace {

template <std::size_t M, std::size_t K, std::size_t N, class S>
std::vector<S> by_loop(const std::vector<ad::real_t<S>>& a, const std::vector<S>& b) {
  std::vector<S> c(M * N);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j < N; ++j)
      for (std::size_t k = 0; k < K; ++k) c[i * N + j] += a[i * K + k] * b[k * N + j];
  return c;
}

/// Each dual moves in some directions, some of them in none.
template <std::size_t M, std::size_t K, std::size_t N, class T, int D>
void check_shape() {
  using S = ad::dual<T, D>;
  CAPTURE(M);
  CAPTURE(K);
  CAPTURE(N);
  CAPTURE(D);
  std::mt19937_64 random(7 + M + K + N);
  std::normal_distribution<double> normal;
  std::vector<T> a(M * K);
  std::vector<S> b(K * N), c(M * N, S(T(9)));
  for (T& v : a) v = static_cast<T>(normal(random));
  for (S& v : b) {
    v.value = static_cast<T>(normal(random));
    const auto first = static_cast<int>(random() % static_cast<unsigned>(D + 1));
    for (int i = first; i < D && i < first + 5; ++i) v.tangent[i] = static_cast<T>(normal(random));
  }
  ad::matmul<M, K, N>(a, b, c);
  const auto expected = by_loop<M, K, N>(a, b);
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-12;
  double most = 0;  // one check for all
  for (std::size_t i = 0; i < M * N; ++i) {
    most = harness::larger(
        most, harness::difference(static_cast<double>(c[i].value), static_cast<double>(expected[i].value)));
    for (int k = 0; k < D; ++k)
      most = harness::larger(
          most, harness::difference(static_cast<double>(c[i].tangent[k]), static_cast<double>(expected[i].tangent[k])));
  }
  CHECK(most <= tolerance);
}

}  // namespace

TEST_CASE("constants times duals: shapes that do and do not fill blocks") {
  check_shape<100, 88, 3, double, 26>();
  check_shape<24, 5, 1, double, 16>();
  check_shape<37, 7, 2, double, 5>();
  check_shape<25, 9, 4, double, 9>();
  check_shape<31, 6, 11, float, 20>();
  check_shape<50, 1, 3, double, 1>();  // one direction: the plain loop
  check_shape<5, 4, 3, double, 8>();   // few rows: too
}

TEST_CASE("constants times duals: what does not move stays so, whatever the constant is, and NaNs are kept") {
  using S = ad::dual<double, 8>;
  constexpr std::size_t M = 32, K = 3;
  std::vector<double> a(M * K, 1.0);
  std::vector<S> b(K * 3), c(M * 3);
  for (std::size_t j = 0; j < 3; ++j) {
    b[j] = S::variable(2.0, 1);
    b[3 + j] = S(1.0);
    b[6 + j] = S(0.5);
  }
  a[7 * K + 1] = std::numeric_limits<double>::infinity();
  ad::matmul<M, K, 3>(a, b, c);
  CHECK(std::isinf(c[7 * 3].value));
  CHECK(c[7 * 3].tangent[1] == 1.0);
  CHECK(c[7 * 3].tangent[0] == 0.0);
  b[4].tangent[2] = std::numeric_limits<double>::quiet_NaN();
  ad::matmul<M, K, 3>(a, b, c);
  CHECK(std::isnan(c[1].tangent[2]));
  CHECK(c[0].tangent[2] == 0.0);
}

TEST_CASE("constants times duals: std::array, and a derivative inside of another") {
  using S = ad::dual<double, 4>;
  std::array<double, 64> a;
  std::array<S, 6> b;
  std::array<S, 96> c;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7) - 2;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = S::variable(0.5 + static_cast<double>(i), static_cast<int>(i % 4));
  ad::matmul<32, 2, 3>(a, b, c);
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(c[3 * i + j].value == a[2 * i] * b[j].value + a[2 * i + 1] * b[3 + j].value);
      CHECK(c[3 * i + j].tangent[j % 4] == a[2 * i] * b[j].tangent[j % 4] + a[2 * i + 1] * b[3 + j].tangent[j % 4]);
    }
  using SS = ad::dual<S, 2>;
  std::array<SS, 6> bb;
  std::array<SS, 96> cc;
  for (std::size_t i = 0; i < b.size(); ++i) bb[i] = SS::variable(b[i], static_cast<int>(i % 2));
  ad::matmul<32, 2, 3>(a, bb, cc);
  CHECK(cc[95].value.value == c[95].value);
  CHECK(cc[95].value.tangent[1] == c[95].tangent[1]);
}
