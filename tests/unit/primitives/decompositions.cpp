// QR, symmetric eigenvalues and singular values: what is taken, the identities that define them, special matrices,
// derivatives.
#include <drx/drx.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A>
concept has_qr = requires(const A& a) { drx::qr(a); };
template <class A>
concept has_eigh = requires(const A& a) { drx::eigh(a); };
template <class A>
concept has_svd = requires(const A& a) { drx::svd(a); };
using m33 = array<double, 3, 3>;

template <std::int64_t M, std::int64_t N>
using matrix = array<double, M, N>;
/// The largest element of x y - z, x or y transposed.
template <bool TX = false, bool TY = false, std::int64_t A, std::int64_t B, std::int64_t C, std::int64_t D, class Z>
double residual(const matrix<A, B>& x, const matrix<C, D>& y, const Z& z) {
  double worst = 0;
  const std::int64_t m = TX ? B : A, k = TX ? A : B, n = TY ? C : D;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += (TX ? x(l, i) : x(i, l)) * (TY ? y(j, l) : y(l, j));
      worst = std::max(worst, std::abs(sum - z(i, j)));
    }
  return worst;
}
template <std::int64_t N>
matrix<N, N> unit() {
  matrix<N, N> x;
  for (std::int64_t i = 0; i < N; ++i) x(i, i) = 1;
  return x;
}
template <class A>
A random(std::uint64_t seed) {
  harness::random r(seed);
  A x;
  for (auto& e : x) e = std::uniform_real_distribution<double>(-1, 1)(r);
  return x;
}
/// x with column j times s(j).
template <std::int64_t M, std::int64_t N>
matrix<M, N> scaled(matrix<M, N> x, const array<double, N>& s) {
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) x(i, j) *= s[j];
  return x;
}
constexpr auto qr = [](auto a) { return drx::qr(a); };
constexpr auto eigh = [](auto a) { return drx::eigh(a); };
constexpr auto svd = [](auto a) { return drx::svd(a); };

template <std::int64_t M, std::int64_t N>
void check_qr(const matrix<M, N>& a) {
  const auto [q, r] = interpreter::call<program<qr, matrix<M, N>>>(a);
  CHECK(residual(q, r, a) < 1e-14 * static_cast<double>(M));
  CHECK(residual<true>(q, q, unit<N>()) < 1e-14 * static_cast<double>(M));
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t j = 0; j < i; ++j) CHECK(r(i, j) == 0);
}
template <std::int64_t N>
void check_eigh(const matrix<N, N>& a, double scale = 1) {
  const auto [w, v] = interpreter::call<program<eigh, matrix<N, N>>>(a);
  matrix<N, N> symmetric;
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t j = 0; j < N; ++j) symmetric(i, j) = a(i, j) / 2 + a(j, i) / 2;
  for (std::int64_t i = 1; i < N; ++i) CHECK(w[i - 1] <= w[i]);
  CHECK(residual<false, true>(scaled(v, w), v, symmetric) < 1e-14 * scale * static_cast<double>(N));
  CHECK(residual<true>(v, v, unit<N>()) < 1e-14 * static_cast<double>(N));
}
template <std::int64_t M, std::int64_t N>
void check_svd(const matrix<M, N>& a, double scale = 1) {
  constexpr std::int64_t k = M < N ? M : N;
  const auto [u, s, vt] = interpreter::call<program<svd, matrix<M, N>>>(a);
  for (std::int64_t i = 1; i < k; ++i) CHECK(s[i] <= s[i - 1]);
  for (double x : s) CHECK(x >= 0);
  CHECK(residual(scaled(u, s), vt, a) < 1e-14 * scale * static_cast<double>(M + N));
  CHECK(residual<true>(u, u, unit<k>()) < 1e-14 * static_cast<double>(M));
  CHECK(residual<false, true>(vt, vt, unit<k>()) < 1e-14 * static_cast<double>(N));
}
constexpr auto of_svd = [](auto a) {
  const auto [u, s, vt] = drx::svd(a);
  return std::tuple{s, drx::matmul(u * drx::sin(s), vt), drx::square(u), drx::square(vt)};
};
}  // namespace

TEST_CASE("which matrices are taken") {
  static_assert(has_qr<m33> && has_qr<array<float, 5, 4, 2>> && has_qr<matrix<3, 0>> && !has_qr<matrix<2, 3>> &&
                !has_qr<array<double, 3>> && !has_qr<array<int, 3, 3>> && !has_qr<drx::placed<m33, clients>>);
  static_assert(has_eigh<m33> && has_eigh<array<float, 5, 2, 2>> && !has_eigh<matrix<2, 3>> &&
                !has_eigh<array<int, 2, 2>> && !has_eigh<drx::placed<m33, clients>>);
  static_assert(has_svd<m33> && has_svd<array<float, 5, 2, 4>> && has_svd<matrix<4, 2>> && !has_svd<array<double, 3>> &&
                !has_svd<array<int, 3, 3>> && !has_svd<drx::placed<m33, clients>>);
}

TEST_CASE("random matrices") {
  check_qr(random<matrix<1, 1>>(1));
  check_qr(random<matrix<5, 3>>(2));
  check_qr(random<matrix<6, 6>>(3));
  check_eigh(random<matrix<1, 1>>(4));
  check_eigh(random<matrix<2, 2>>(5));
  check_eigh(random<matrix<12, 12>>(6));
  check_svd(random<matrix<1, 1>>(7));
  check_svd(random<matrix<5, 3>>(8));
  check_svd(random<matrix<3, 5>>(9));
  check_svd(random<matrix<10, 10>>(10));
}

TEST_CASE("special matrices: zero, unit, of lower rank, graded, very large and very small") {
  check_qr(m33{});
  check_qr(m33{1, 2, 3, 2, 4, 6, 0, 0, 1});
  check_eigh(m33{});
  check_eigh(unit<3>());
  check_eigh(m33{0, 1, 0, 1, 0, 0, 0, 0, 0});
  check_eigh(m33{1, 2, 3, 2, 4, 6, 3, 6, 9});
  check_eigh(m33{1e200, 1e100, 0, 1e100, 1, 1e-100, 0, 1e-100, 1e-200}, 1e200);
  check_eigh(m33{1e308, 1e308, 1e307, 1e308, -1e308, 0, 1e307, 0, 1e308}, 1e308);
  check_eigh(m33{4e-320, 1e-320, 0, 1e-320, 4e-320, 0, 0, 0, 1e-320});
  check_svd(m33{});
  check_svd(unit<3>());
  check_svd(matrix<4, 3>{1, 2, 3, 2, 4, 6, 3, 6, 9, 4, 8, 12}, 20);
  check_svd(matrix<3, 4>{1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12}, 20);
  check_svd(matrix<4, 2>{0, 0, 0, 1, 0, 0, 0, 0});
  check_svd(m33{1e308, 1e308, 1e307, 1e308, -1e308, 0, 1e307, 0, 1e308}, 1e308);
  check_svd(m33{1e300, 0, 0, 0, 1, 0, 0, 0, 1e-300}, 1e300);
}

TEST_CASE("numbers that are not finite give NaN, in their matrix alone") {
  using two = array<double, 2, 2, 2>;
  const two a{1, NAN, 0, 1, 2, 0, 0, 1};
  const auto [q, r] = interpreter::call<program<qr, two>>(a);
  const auto [w, v] = interpreter::call<program<eigh, two>>(a);
  const auto [u, s, vt] = interpreter::call<program<svd, two>>(a);
  for (int i = 0; i < 4; ++i)
    CHECK((std::isnan(q[i]) && std::isnan(r[i]) && std::isnan(v[i]) && std::isnan(u[i]) && std::isnan(vt[i])));
  for (int i = 0; i < 2; ++i) CHECK((std::isnan(w[i]) && std::isnan(s[i])));
  CHECK((w(1, 0) == 1 && w(1, 1) == 2 && s(1, 0) == 2 && s(1, 1) == 1 && r(1, 0, 0) == 2));
}

TEST_CASE("signs: LAPACK's of Q and R, the largest element of an eigenvector or a column of U is positive") {
  const auto [q, r] = interpreter::call<program<qr, matrix<2, 2>>>(matrix<2, 2>{3, 1, 4, 2});
  CHECK((r(0, 0) == doctest::Approx(-5) && q(0, 0) == doctest::Approx(-.6) && r(1, 1) == doctest::Approx(.4)));
  const auto [w, v] = interpreter::call<program<eigh, matrix<2, 2>>>(matrix<2, 2>{0, -3, -3, 8});
  CHECK((w[0] == doctest::Approx(-1) && w[1] == doctest::Approx(9) && v(0, 0) > 0 && v(1, 1) > 0));
  const auto [u, s, vt] = interpreter::call<program<svd, matrix<2, 2>>>(matrix<2, 2>{0, 2, -3, 0});
  CHECK((s[0] == 3 && s[1] == 2 && u(1, 0) == 1 && vt(0, 0) == -1 && u(0, 1) == 1 && vt(1, 1) == 1));
}

TEST_CASE("derivatives of both modes and orders, and batches") {
  // (Signs of columns may change between a point and the next one of a difference: products do not depend on them.)
  constexpr auto of_qr = [](auto a) {
    return drx::qr(a + 2 * drx::constant(array<double, 3, 2>{1., 0., 0., 1., 0., 0.}));
  };
  harness::check_program<program<of_qr, matrix<3, 2>>>({.tolerance = 1e-5});
  constexpr auto of_eigh = [](auto a) {
    const auto [w, v] = drx::eigh(a + drx::diagonal_matrix(drx::constant(array<double, 3>{-4., 0., 4.})));
    return std::pair{w, drx::matmul(v * drx::sin(w), drx::transpose(v)) + drx::square(v)};
  };
  harness::check_program<program<of_eigh, m33>>({.tolerance = 1e-5});
  constexpr auto tall = [](auto a) { return of_svd(a + drx::constant(array<double, 3, 2>{5., 0., 0., 2., 0., 0.})); };
  constexpr auto wide = [](auto a) { return of_svd(a + drx::constant(array<double, 2, 3>{5., 0., 0., 0., 2., 0.})); };
  constexpr auto square = [](auto a) { return of_svd(a + drx::constant(array<double, 2, 2>{5., 0., 0., 2.})); };
  const harness::domain d{.low = -.5, .high = .5, .tolerance = 1e-5};
  harness::check_program<program<tall, matrix<3, 2>>>(d);
  harness::check_program<program<wide, matrix<2, 3>>>(d);
  harness::check_program<program<square, matrix<2, 2>>>(d);
}

TEST_CASE("equal eigenvalues and singular values: what does not depend on vectors has its derivatives") {
  static constexpr auto f = [](auto a) {
    const auto [w, v] = drx::eigh(a);
    const auto [u, s, vt] = drx::svd(a);
    return drx::sum(w * w) + drx::sum(s * s * s);
  };
  constexpr auto g = [](auto a) { return std::pair{drx::grad(f)(a), drx::jvp(f, a, a).second}; };
  const auto [slope, moved] = interpreter::call<program<g, m33>>(m33{2, 0, 0, 0, 2, 0, 0, 0, 2});
  for (int i = 0; i < 9; ++i) CHECK(slope[i] == (i % 4 == 0 ? 16 : 0));  // 2 w + 3 s^2
  CHECK(moved == doctest::Approx(96));
}

namespace {
/// Q diag(w) Q^T of a random orthogonal Q, symmetric to the last bit.
template <class T>
std::vector<T> with_eigenvalues(const std::vector<double>& w, std::mt19937& random) {
  const auto n = static_cast<std::int64_t>(w.size());
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<double> x(static_cast<std::size_t>(n * n)), q(x.size()), r(x.size()),
      space(static_cast<std::size_t>(drx::decompose::qr_scratch(n, n)));
  std::normal_distribution<double> normal;
  for (double& e : x) e = normal(random);
  drx::decompose::qr(n, n, x.data(), q.data(), r.data(), space.data());
  std::vector<T> a(x.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      long double sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += static_cast<long double>(q[at(i, k)]) * w[static_cast<std::size_t>(k)] * q[at(j, k)];
      a[at(i, j)] = a[at(j, i)] = static_cast<T>(sum);
    }
  return a;
}
/// The largest errors of a matrix's eigenvalues, its residuals A v - w v, and its eigenvectors' products, in units in
/// the last place of the largest eigenvalue, or of one.
template <class T>
double worst_error(const std::vector<T>& a, std::vector<double> expected) {
  const auto n = static_cast<std::int64_t>(expected.size());
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<T> w(expected.size()), v(a.size()), space(a.size() + 2 * expected.size());
  drx::decompose::eigh(n, a.data(), w.data(), v.data(), space.data());
  std::sort(expected.begin(), expected.end());
  const double largest = std::max(std::abs(expected.front()), std::abs(expected.back()));
  double worst = 0;
  const auto note = [&](double error) { worst = error <= worst ? worst : error; };  // (NaN is noted)
  for (std::int64_t k = 0; k < n; ++k) {
    const auto of = static_cast<std::size_t>(k);
    note(std::abs(static_cast<double>(w[of]) - expected[of]) / largest);
    for (std::int64_t i = 0; i < n; ++i) {
      double residual = -static_cast<double>(w[of]) * static_cast<double>(v[at(i, k)]), product = i == k ? -1 : 0;
      for (std::int64_t j = 0; j < n; ++j) {
        residual += static_cast<double>(a[at(i, j)]) * static_cast<double>(v[at(j, k)]);
        product += static_cast<double>(v[at(j, i)]) * static_cast<double>(v[at(j, k)]);
      }
      note(std::abs(residual) / largest);
      note(std::abs(product));
    }
  }
  return worst / static_cast<double>(std::numeric_limits<T>::epsilon());
}
}  // namespace

TEST_CASE("eigenvalues are right to the last digits of the largest one, whatever the spectrum") {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 11, 16, 33, 64}) {
    const auto check = [&](const char* name, auto spectrum) {
      CAPTURE(n);
      CAPTURE(name);
      std::vector<double> w;
      for (int k = 0; k < n; ++k) w.push_back(spectrum(k));
      CHECK(worst_error(with_eigenvalues<double>(w, random), w) <= 30 + 2 * n);
      CHECK(worst_error(with_eigenvalues<float>(w, random), w) <= 30 + 2 * n);
    };
    check("random", [&](int) { return normal(random); });
    check("all equal", [](int) { return 3.0; });
    check("clusters", [](int k) { return k % 3 + 1e-9 * k; });
    check("falling by ten", [](int k) { return std::pow(10.0, -k); });
    check("of rank one", [](int k) { return k == 0 ? 7.0 : 0.0; });
    check("both signs", [](int k) { return k % 2 == 0 ? 1.0 : -1.0; });
    check("large", [](int k) { return 1e37 / (k + 1); });
    check("small", [](int k) { return 1e-36 * (k + 1); });
  }
}

TEST_CASE("rows of very different sizes keep the digits of small eigenvalues") {
  constexpr std::int64_t n = 8;  // D B D, with B near the unit matrix: its eigenvalues are near D's squares
  std::vector<double> a(n * n), twice(n * n), w(n), scaled(n), v(n * n), space(n * (n + 2));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      a[static_cast<std::size_t>(i * n + j)] = std::pow(0.01, static_cast<double>(i + j)) * (i == j ? 1 : 0.1);
  drx::decompose::eigh(n, a.data(), w.data(), v.data(), space.data());
  for (std::int64_t k = 0; k < n; ++k) {
    const double size = std::pow(1e-4, static_cast<double>(n - 1 - k));
    CHECK(w[static_cast<std::size_t>(k)] > 0.8 * size);
    CHECK(w[static_cast<std::size_t>(k)] < 1.2 * size);
  }
}

TEST_CASE("a path's adjacency matrix has the eigenvalues 2 cos(k pi / (n + 1))") {
  constexpr std::int64_t n = 40;
  std::vector<double> a(n * n), expected;
  for (std::int64_t i = 0; i + 1 < n; ++i)
    a[static_cast<std::size_t>(i * n + i + 1)] = a[static_cast<std::size_t>((i + 1) * n + i)] = 1;
  for (int k = 1; k <= n; ++k) expected.push_back(2 * std::cos(k * 3.14159265358979323846 / (n + 1)));
  CHECK(worst_error(a, expected) <= 60);
}
