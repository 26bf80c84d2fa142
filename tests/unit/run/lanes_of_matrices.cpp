// processors: aarch64
// Factorisations and solutions of small systems of many members in lanes, against the plain interpreter, with their
// derivatives in both modes.
#include <drx/drx.hpp>
#include <drx/run/kernels/lane_linear_algebra.hpp>
#include <drx/run/kernels/linear_algebra.hpp>

#include "harness/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {
struct runs : drx::placement<runs> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;

// What a member computes of its own matrix, of one that is the same for all, and of a vector; all reduced.
template <const auto& F>
constexpr auto mean_of = [](auto w, auto data) {
  return drx::value_and_grad([=](auto v) {
    auto of_member = [](auto own, auto m) { return F(own, std::get<0>(m), std::get<1>(m)); };
    return drx::reduce_mean(drx::map(of_member, drx::broadcast<runs>(v), data));
  })(w);
};
template <class T, std::int64_t N>
constexpr auto definite = [](auto a) { return drx::matmul(a, drx::transpose(a)) + drx::identity<array<T, N, N>>(); };
// By Cholesky's factors: a member's own, and that of all with members' right-hand sides.
template <class T, std::int64_t N>
constexpr auto by_cholesky = [](auto w, auto a, auto y) {
  auto l = drx::cholesky(definite<T, N>(a + w)), same = drx::cholesky(definite<T, N>(w));
  auto z = drx::triangular_solve(l, y), back = drx::triangular_solve<drx::transposed>(l, z);
  auto right = drx::triangular_solve<drx::from_right, drx::upper>(drx::transpose(l), a);
  auto rest = drx::triangular_solve(same, y) + drx::triangular_solve<drx::from_right>(same, y);
  auto fixed = drx::triangular_solve<drx::unit_diagonal>(l, drx::ones<array<T, N, 2>>());
  return drx::dot(z, z) + drx::dot(back, y) + drx::sum(right) + drx::sum(rest * y) + drx::mean(fixed) -
         drx::sum(drx::log(drx::diagonal(l)));
};
// By LU factors, with pivots that differ between lanes.
template <class T, std::int64_t N>
constexpr auto by_factors = [](auto w, auto a, auto y) {
  auto m = a + w + drx::flip<0>(drx::identity<array<T, N, N>>()) * 3;
  auto of_all = w + 3 * drx::identity<array<T, N, N>>();
  auto inverse = drx::inverse(m);
  return drx::sum(inverse) + drx::logdet(m) + drx::dot(drx::solve(m, y), y) + drx::sum(drx::solve(of_all, a)) +
         drx::sum(drx::matmul(y, drx::solve(drx::transpose(m), inverse)));
};
template <class T, std::int64_t N>
using members = drx::placed<std::pair<array<T, N, N>, array<T, N>>, runs>;
template <class T, std::int64_t N>
using Cholesky = drx::program<mean_of<by_cholesky<T, N>>, array<T, N, N>, members<T, N>>;
template <class T, std::int64_t N>
using Factors = drx::program<mean_of<by_factors<T, N>>, array<T, N, N>, members<T, N>>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
}  // namespace

TEST_CASE("Cholesky's factors and triangular systems in lanes") {
  harness::check_run<Cholesky<double, 3>>({.low = -0.5, .high = 0.5}, {0, 5, 256, 300});
  harness::check_run<Cholesky<float, 2>>({.low = -0.5, .high = 0.5}, {300});
  for (const char* name : {"lane_cholesky", "lane_triangular_solve"})
    CHECK(plan_of<Cholesky<double, 3>>().find(name) != std::string::npos);
}
TEST_CASE("LU factors in lanes") {
  harness::check_run<Factors<double, 4>>({.low = -0.5, .high = 0.5}, {0, 5, 256, 300});
  harness::check_run<Factors<float, 3>>({.low = -0.2, .high = 0.2}, {264});
  for (const char* name : {"lane_lu_factors", "lane_lu_solve"})
    CHECK(plan_of<Factors<double, 4>>().find(name) != std::string::npos);
}

namespace {
/// The same number, or none of both.
template <class T>
bool same(T x, T y) {
  return (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= 8 * std::numeric_limits<T>::epsilon() * std::abs(y) ||
         x == y;
}
/// Matrices of eight members, some of them singular, not definite or without a number, in lanes and one by one.
template <class T, int N>
void compare_special_matrices() {
  constexpr int lanes = 8;
  std::mt19937 random(N);
  std::vector<T> each(lanes * N * N), in_lanes(each.size()), result(each.size());
  for (int l = 0; l < lanes; ++l)
    for (int i = 0; i < N * N; ++i) {
      T x = static_cast<T>(random() % 1000) / 500 - 1;
      if (l == 1) x = 0;                      // singular
      if (l == 2) x = i % N == 0 ? T(0) : x;  // its first pivot is zero
      if (l == 3 && i == 1) x = std::numeric_limits<T>::quiet_NaN();
      if (l == 4) x += i % (N + 1) == 0 ? T(2 * N) : T(0);                                     // definite
      if (l == 5) x = i / N == N - 1 ? each[static_cast<std::size_t>(l * N * N + i % N)] : x;  // two equal rows
      if (l == 6 && i == 0) x = std::numeric_limits<T>::infinity();
      each[static_cast<std::size_t>(l * N * N + i)] = x;
      in_lanes[static_cast<std::size_t>(i * lanes + l)] = x;
    }
  std::vector<std::int32_t> exchanged(lanes * N);
  std::vector<T> factors(each.size());
  drx::run::lane_matrices<T, N, lanes>::lu_factors(in_lanes.data(), factors.data(), exchanged.data());
  drx::run::lane_matrices<T, N, lanes>::cholesky(in_lanes.data(), result.data());
  for (int l = 0; l < lanes; ++l) {
    INFO("member ", l);
    T lu[N * N], root[N * N] = {};
    std::int32_t rows[N];
    std::copy_n(each.data() + l * N * N, N * N, lu);
    drx::prim::rules::lu_factors::factor(N, lu, rows);
    drx::run::cholesky<N>(each.data() + l * N * N, root);
    for (int i = 0; i < N; ++i) CHECK(rows[i] == exchanged[static_cast<std::size_t>(i * lanes + l)]);
    for (int i = 0; i < N * N; ++i) {
      CHECK(same(factors[static_cast<std::size_t>(i * lanes + l)], lu[i]));
      CHECK(same(result[static_cast<std::size_t>(i * lanes + l)], root[i]));
    }
  }
}
}  // namespace

TEST_CASE("matrices that are singular, not definite or hold no numbers, in lanes") {
  compare_special_matrices<double, 2>();
  compare_special_matrices<double, 3>();
  compare_special_matrices<float, 4>();
}
