// The loops of QR and singular values beside long double: errors over sizes, spectra and scales, which of two ways a
// matrix takes, and that both agree.
#include <doctest/doctest.h>
#include <drx/primitives/decompose/qr.hpp>
#include <drx/primitives/decompose/svd.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace {
using exact = long double;
std::mt19937 random_bits(3);

template <class T>
struct matrix {
  std::int64_t rows, columns;
  std::vector<T> elements = std::vector<T>(static_cast<std::size_t>(rows * columns));
  T& operator()(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i * columns + j)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>(i * columns + j)];
  }
  T* data() { return elements.data(); }
  const T* data() const { return elements.data(); }
};
template <class To, class T>
matrix<To> rounded(const matrix<T>& x) {
  matrix<To> y{x.rows, x.columns};
  std::transform(x.elements.begin(), x.elements.end(), y.elements.begin(), [](T e) { return static_cast<To>(e); });
  return y;
}
template <class T>
matrix<T> transposed(const matrix<T>& x) {
  matrix<T> y{x.columns, x.rows};
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) y(j, i) = x(i, j);
  return y;
}
template <class X, class Y>
matrix<exact> product(const matrix<X>& x, const matrix<Y>& y) {
  matrix<exact> z{x.rows, y.columns};
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t k = 0; k < x.columns; ++k)
      for (std::int64_t j = 0; j < y.columns; ++j) z(i, j) += static_cast<exact>(x(i, k)) * y(k, j);
  return z;
}
matrix<exact> random(std::int64_t rows, std::int64_t columns) {
  std::normal_distribution<double> normal;
  matrix<exact> x{rows, columns};
  for (exact& e : x.elements) e = normal(random_bits);
  return x;
}
/// Orthonormal columns, by Gram and Schmidt, twice.
matrix<exact> orthonormal(std::int64_t rows, std::int64_t columns) {
  matrix<exact> x = random(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (int pass = 0; pass < 2; ++pass) {
      exact squares = 0;
      for (std::int64_t l = 0; l < j; ++l) {
        exact part = 0;
        for (std::int64_t i = 0; i < rows; ++i) part += x(i, l) * x(i, j);
        for (std::int64_t i = 0; i < rows; ++i) x(i, j) -= part * x(i, l);
      }
      for (std::int64_t i = 0; i < rows; ++i) squares += x(i, j) * x(i, j);
      for (std::int64_t i = 0; i < rows; ++i) x(i, j) /= std::sqrt(squares);
    }
  return x;
}
/// The largest number of x - y beside `size`, in units in the last place of T. (NaN is noted.)
template <class T, class X>
double difference(const matrix<exact>& x, const matrix<X>& y, exact size) {
  exact worst = 0;
  for (std::size_t i = 0; i < x.elements.size(); ++i) {
    const exact error = std::abs(x.elements[i] - static_cast<exact>(y.elements[i]));
    worst = error <= worst ? worst : error;
  }
  return static_cast<double>(worst / size / std::numeric_limits<T>::epsilon());
}
template <class T>
double from_orthonormal(const matrix<T>& columns) {
  matrix<exact> unit{columns.columns, columns.columns};
  for (std::int64_t i = 0; i < unit.rows; ++i) unit(i, i) = 1;
  return difference<T>(product(transposed(columns), columns), unit, 1);
}
template <class T>
exact largest(const matrix<T>& x) {
  exact size = 0;
  for (const T e : x.elements) size = std::max(size, std::abs(static_cast<exact>(e)));
  return size;
}

template <class T>
struct factors {
  matrix<T> q, r;
};
template <class T, class F>
factors<T> factored(const matrix<T>& a, F f) {
  factors<T> x{{a.rows, a.columns}, {a.columns, a.columns}};
  std::vector<T> space(static_cast<std::size_t>(drx::decompose::in_blocks(a.columns) * (a.rows + 8)));
  f(a.rows, a.columns, a.data(), x.q.data(), x.r.data(), space.data());
  return x;
}
template <class T>
void check_qr(const matrix<exact>& wide, double most) {
  const matrix<T> a = rounded<T>(wide);
  const auto [q, r] = factored(a, drx::decompose::qr<T>);
  CHECK(from_orthonormal(q) <= most);
  const exact size = std::max(largest(r), static_cast<exact>(std::numeric_limits<T>::min()));
  CHECK(difference<T>(product(q, r), a, size) <= most);
  for (std::int64_t i = 0; i < a.columns; ++i)
    for (std::int64_t j = 0; j < i; ++j) CHECK(r(i, j) == 0);
}

template <class T>
struct values_and_vectors {
  matrix<T> u, s, vt;
};
template <class T>
values_and_vectors<T> decomposed(const matrix<T>& a) {
  const std::int64_t k = std::min(a.rows, a.columns);
  values_and_vectors<T> x{{a.rows, k}, {1, k}, {k, a.columns}};
  std::vector<T> space(static_cast<std::size_t>(drx::decompose::svd_scratch(a.rows, a.columns)));
  drx::decompose::svd(a.rows, a.columns, a.data(), x.u.data(), x.s.data(), x.vt.data(), space.data());
  return x;
}
template <class T>
matrix<T> columns_scaled(matrix<T> x, const matrix<T>& s) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) x(i, j) *= s(0, j);
  return x;
}
/// The worst error of singular values, of the product beside the matrix, and of the vectors' products.
template <class T>
double worst_error(const matrix<exact>& wide, matrix<exact> expected) {
  const matrix<T> a = rounded<T>(wide);
  const auto [u, s, vt] = decomposed(a);
  std::sort(expected.elements.rbegin(), expected.elements.rend());
  const exact size = expected(0, 0) > 0 ? expected(0, 0) : 1;
  for (std::int64_t i = 1; i < s.columns; ++i) CHECK(s(0, i) <= s(0, i - 1));
  for (std::int64_t i = 0; i < s.columns; ++i) CHECK(!std::signbit(s(0, i)));
  for (std::int64_t j = 0; j < u.columns; ++j) {  // the largest number of a column is positive
    T least = 0, most = 0;
    for (std::int64_t i = 0; i < u.rows; ++i) least = std::min(least, u(i, j)), most = std::max(most, u(i, j));
    CHECK(most >= -least);
  }
  return std::max({difference<T>(expected, s, size),
                   difference<T>(product(columns_scaled(rounded<exact>(u), rounded<exact>(s)), vt), a, size),
                   from_orthonormal(u), from_orthonormal(transposed(vt))});
}
constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {{1, 1},   {4, 4},   {5, 5},   {8, 8},   {16, 9},  {9, 16},
                                                            {17, 17}, {33, 31}, {60, 20}, {20, 60}, {97, 40}, {1, 6}};
}  // namespace

TEST_CASE("Q is orthonormal and Q R is the matrix, in blocks of reflections and one by one") {
  for (const auto& size : {std::pair{5, 3}, {16, 4}, {16, 16}, {17, 8}, {30, 5}, {33, 31}, {64, 64}, {97, 40}}) {
    const std::int64_t m = size.first, n = size.second;
    CAPTURE(m);
    CAPTURE(n);
    const matrix<exact> a = random(m, n);
    matrix<exact> dependent = a, ones{m, n}, large = a, small = a;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        ones(i, j) = 1;
        dependent(i, j) = a(i, j / 3);
        large(i, j) *= 1e36L;
        small(i, j) *= 1e-35L;
      }
    for (const matrix<exact>& x : {a, dependent, ones, large, small, matrix<exact>{m, n}}) {
      check_qr<float>(x, 30);
      check_qr<double>(x, 30);
    }
  }
}

TEST_CASE("Q of numbers too small for all digits is orthonormal") {
  for (const auto& size : {std::pair{4, 2}, {9, 8}, {15, 9}, {15, 15}, {33, 31}}) {
    CAPTURE(size.first);
    matrix<float> a{size.first, size.second}, q = a, r{a.columns, a.columns};
    for (float& x : a.elements) x = std::ldexp(static_cast<float>(random_bits() % 7) - 3, -148);
    std::vector<float> scratch(static_cast<std::size_t>(drx::decompose::qr_scratch(a.rows, a.columns)));
    drx::decompose::qr(a.rows, a.columns, a.data(), q.data(), r.data(), scratch.data());
    CHECK(from_orthonormal(q) < 30);
  }
}

TEST_CASE("blocks of reflections give what reflections one by one give") {
  for (const auto& [m, n] : {std::pair{16, 4}, {20, 7}, {40, 17}, {97, 40}}) {
    const matrix<double> a = rounded<double>(random(m, n));
    const auto blocks = factored(a, drx::decompose::qr_in_blocks<double>),
               single = factored(a, drx::decompose::qr_one_by_one<double>);
    CHECK(difference<double>(rounded<exact>(single.q), blocks.q, 1) < 500);
    CHECK(difference<double>(rounded<exact>(single.r), blocks.r, largest(single.r)) < 500);
  }
}

TEST_CASE("singular values are right to the last digits of the largest one, whatever the spectrum") {
  for (const auto& size : shapes) {
    const std::int64_t m = size.first, n = size.second, k = std::min(m, n);
    CAPTURE(m);
    CAPTURE(n);
    const auto check = [&](const char* name, auto spectrum) {
      CAPTURE(name);
      matrix<exact> s{1, k};
      for (std::int64_t i = 0; i < k; ++i) s(0, i) = spectrum(static_cast<int>(i));
      const matrix<exact> a = product(columns_scaled(orthonormal(m, k), s), transposed(orthonormal(n, k)));
      CHECK(worst_error<float>(a, s) <= 40);
      CHECK(worst_error<double>(a, s) <= 40);
    };
    std::normal_distribution<double> normal;
    check("random", [&](int) { return std::abs(normal(random_bits)) + .1; });
    check("all equal", [](int) { return 3.0; });
    check("clusters", [](int i) { return i % 3 + 1 + 1e-9 * i; });
    check("zeros", [](int i) { return i % 2; });
    check("of rank one", [](int i) { return i == 0 ? 7.0 : 0.0; });
    check("large", [](int i) { return 1e37 / (i + 1); });
    check("small", [](int i) { return 1e-36 * (i + 1); });
  }
}

TEST_CASE("all numbers the same: errors of rounding all alike do not add up") {
  for (const auto& [m, n] : {std::pair{60, 60}, {150, 60}, {60, 150}}) {
    matrix<exact> ones{m, n}, s{1, std::min(m, n)};
    std::fill(ones.elements.begin(), ones.elements.end(), 1.0L);
    s(0, 0) = std::sqrt(static_cast<exact>(m * n));
    CHECK(worst_error<float>(ones, s) <= 40);
    CHECK(worst_error<double>(ones, s) <= 40);
  }
}

TEST_CASE("singular values that are zero have no sign") {
  for (const auto& [m, n] : {std::pair{34, 7}, {7, 34}, {42, 8}}) {
    matrix<exact> board{m, n}, s{1, std::min(m, n)};
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) board(i, j) = (i + j) % 2 == 0;
    const int half = std::max(m, n) / 2, few = std::min(m, n);  // each half of the rows is all the same
    s(0, 0) = std::sqrt(static_cast<exact>(half * ((few + 1) / 2)));
    s(0, 1) = std::sqrt(static_cast<exact>(half * (few / 2)));
    CHECK(worst_error<float>(board, s) <= 40);
    CHECK(worst_error<double>(board, s) <= 40);
  }
}

TEST_CASE("the implicit QR method takes bidiagonal matrices with zeros anywhere") {
  constexpr std::int64_t k = 5;
  for (unsigned zeros = 0; zeros < 1U << (2 * k - 1); ++zeros) {
    matrix<exact> a{k, k};
    matrix<double> s{1, k}, beside{1, k}, x{k, k}, y{k, k};
    for (std::int64_t i = 0; i < k; ++i) {
      x(i, i) = y(i, i) = 1;
      a(i, i) = s(0, i) = (zeros >> i & 1U) != 0 ? 0 : 1 + .1 * static_cast<double>(i);
      if (i + 1 < k) a(i, i + 1) = beside(0, i) = (zeros >> (k + i) & 1U) != 0 ? 0 : 1;
    }
    CAPTURE(zeros);
    CHECK(drx::decompose::implicit_qr(k, s.data(), beside.data(), x.data(), y.data()));
    CHECK(difference<double>(product(columns_scaled(transposed(x), s), y), a, 1) <= 30);
    CHECK(from_orthonormal(transposed(x)) <= 30);
    CHECK(from_orthonormal(transposed(y)) <= 30);
  }
}

TEST_CASE("columns and rows of very different sizes keep the digits of small singular values") {
  constexpr std::int64_t n = 8;
  const auto check = [](const matrix<exact>& a, const matrix<exact>& s, double most) {
    const auto found = decomposed(rounded<double>(a)).s;
    for (std::int64_t i = 0; i < n; ++i)
      CHECK(std::abs(static_cast<double>(found(0, i) / s(0, n - 1 - i)) - 1) <=
            most * std::numeric_limits<double>::epsilon());
  };
  matrix<exact> s{1, n}, slowly{1, n};
  for (std::int64_t i = 0; i < n; ++i) {
    s(0, i) = std::pow(100.0L, static_cast<exact>(i + 1 - n));
    slowly(0, i) = std::pow(10.0L, static_cast<exact>(i + 1 - n));
  }
  const matrix<exact> columns = columns_scaled(orthonormal(12, n), s);
  check(columns, s, 30);
  check(transposed(columns), s, 30);
  const matrix<exact> rows = transposed(columns_scaled(orthonormal(n, n), slowly));
  check(rows, slowly, 30);
  check(transposed(rows), slowly, 30);
}

TEST_CASE("columns down to the precision's size: the vectors of small singular values are orthonormal too") {
  const auto check = []<class T>(std::int64_t m, std::int64_t n, T ratio) {
    matrix<exact> s{1, n};
    for (std::int64_t i = 0; i < n; ++i) s(0, i) = std::pow(static_cast<exact>(ratio), static_cast<exact>(i));
    const matrix<T> a = rounded<T>(columns_scaled(random(m, n), s));
    const auto tall = decomposed(a), wide = decomposed(transposed(a));
    CHECK(from_orthonormal(tall.u) <= 60);
    CHECK(from_orthonormal(transposed(tall.vt)) <= 60);
    CHECK(from_orthonormal(wide.u) <= 60);
    CHECK(from_orthonormal(transposed(wide.vt)) <= 60);
  };
  check(26, 18, .3F);
  check(14, 14, .3F);
  check(40, 32, .3);
}

TEST_CASE("a matrix is even where its rows and columns have numbers of about one size") {
  double space[3];
  const auto even = [&](std::int64_t m, std::int64_t n, const std::vector<double>& a) {
    return drx::decompose::is_even(m, n, a.data(), 1.0, space);
  };
  CHECK(even(3, 2, {1, .1, .1, 1, .5, .5}));
  CHECK(!even(3, 2, {1, .01, .1, .01, .5, .01}));
  CHECK(!even(3, 2, {1, .1, .1, 1, .01, .01}));
  CHECK(even(3, 2, {1, .1, 0, 0, .5, .5}));  // a row of zeros, of more than there are columns
  CHECK(!even(2, 2, {1, .1, 0, 0}));         // a singular value is zero
  CHECK(even(2, 3, {1, 0, .1, .1, 0, 1}));
  CHECK(!even(3, 2, {1, 0, 1, 0, 1, 0}));
}
