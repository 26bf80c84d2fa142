// processors: aarch64
#include <drx/drx.hpp>
#include <drx/run/gemm/blocked.hpp>

#include <doctest/doctest.h>

#include "harness/difference.hpp"
#include "harness/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using drx::run::strided_matrix;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// A matrix whose rows or columns are `gap` numbers apart, drawn from [-1, 1]; the numbers between are NaN.
template <class T>
struct drawn {
  std::vector<T> numbers;
  strided_matrix<T> view;
  drawn(std::int64_t rows, std::int64_t columns, bool transposed, std::int64_t gap, std::mt19937& random) {
    const std::int64_t lines = transposed ? columns : rows, length = transposed ? rows : columns;
    const std::int64_t step = gap % 3 == 2 ? 2 : 1, line = length * step + gap;
    numbers.assign(size(lines * line), std::numeric_limits<T>::quiet_NaN());
    std::uniform_real_distribution<T> uniform(-1, 1);
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t j = 0; j < length; ++j) numbers[size(i * line + j * step)] = uniform(random);
    view = {numbers.data(), transposed ? step : line, transposed ? line : step};
  }
};
/// The product in the type's work memory, which ends with numbers that have to stay as they are.
template <class T>
std::vector<T> product(const strided_matrix<T>& a, const strided_matrix<T>& b, std::int64_t m, std::int64_t n,
                       std::int64_t k) {
  constexpr std::int64_t guard = 16;
  const std::int64_t work_size = drx::run::blocked_work(m, n, k);
  drx::buffer work(size((work_size + guard) * static_cast<std::int64_t>(sizeof(T))));
  T* const numbers = reinterpret_cast<T*>(work.data());
  std::fill_n(numbers, work_size + guard, std::numeric_limits<T>::quiet_NaN());
  std::fill_n(numbers + work_size, guard, T(7));
  std::vector<T> c(size(m * n + guard), T(7));
  drx::run::blocked_product(a, b, c.data(), n, m, n, k, numbers);
  CHECK(std::all_of(numbers + work_size, numbers + work_size + guard, [](T x) { return x == T(7); }));
  CHECK(std::all_of(c.end() - guard, c.end(), [](T x) { return x == T(7); }));
  c.resize(size(m * n));
  return c;
}
/// The largest error of c, in roundings of the sums of magnitudes.
template <class T>
double error_of(const std::vector<T>& c, const strided_matrix<T>& a, const strided_matrix<T>& b, std::int64_t m,
                std::int64_t n, std::int64_t k) {
  double most = 0;
  std::vector<long double> sum(size(n)), magnitude(size(n));
  for (std::int64_t i = 0; i < m; ++i) {
    std::fill(sum.begin(), sum.end(), 0.0L), std::fill(magnitude.begin(), magnitude.end(), 0.0L);
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j) {
        const long double p = static_cast<long double>(*a.at(i, l)) * static_cast<long double>(*b.at(l, j));
        sum[size(j)] += p, magnitude[size(j)] += std::abs(p);
      }
    for (std::int64_t j = 0; j < n; ++j) {
      const double scale = static_cast<double>(magnitude[size(j)]) + std::numeric_limits<double>::min();
      most = harness::larger(
          most, harness::difference(static_cast<double>(c[size(i * n + j)]), static_cast<double>(sum[size(j)]), scale));
    }
  }
  return most / static_cast<double>(std::numeric_limits<T>::epsilon());
}
template <class T>
void check(std::int64_t m, std::int64_t n, std::int64_t k, std::mt19937& random) {
  for (int way = 0; way < 4; ++way) {
    const auto gap = [&] { return static_cast<std::int64_t>(random() % 4); };
    const drawn<T> a(m, k, way % 2 == 1, gap(), random), b(k, n, way / 2 == 1, gap(), random);
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(way);
    CAPTURE(sizeof(T));
    CHECK(error_of(product(a.view, b.view, m, n, k), a.view, b.view, m, n, k) <= 8);
  }
}

}  // namespace

TEST_CASE("products of random extents, in all strides") {
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    const auto extent = [&](unsigned most) { return 1 + static_cast<std::int64_t>(random() % most); };
    const std::int64_t m = extent(60), n = extent(90), k = extent(70);
    check<float>(m, n, k, random);
    check<double>(m, n, k, random);
  }
}
TEST_CASE("products at the edges of tiles and blocks") {
  std::mt19937 random(2);
  const auto both = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    check<float>(m, n, k, random), check<double>(m, n, k, random);
  };
  constexpr std::int64_t rows = drx::run::detail::blocked<float>::rows,
                         width = drx::run::detail::blocked<float>::columns, high = drx::machine::product_rows,
                         wide = drx::machine::product_columns, deep = drx::machine::product_depth;
  for (std::int64_t m : {rows - 1, rows, rows + 1})
    for (std::int64_t n : {width / 2, width / 2 + 1, width - 1, width, width + 1})
      for (std::int64_t k : {1, 15, 16, 17}) both(m, n, k);
  both(1, 1, 1), both(1, 300, 40), both(300, 1, 40), both(2, 2, 1000);
  for (std::int64_t m : {high - 1, high, high + 1}) both(m, 40, 30);
  for (std::int64_t k : {deep - 1, deep, deep + 1, 3 * deep + 5}) both(20, 40, k), both(high + 3, 3, k);
  for (std::int64_t n : {wide - 1, wide + 1}) both(high + 1, n, 3);
}
TEST_CASE("products in tasks have the bits of one") {
  std::mt19937 random(4);
  const auto same = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const drawn<float> a(m, k, false, 1, random), b(k, n, true, 0, random);
    const auto whole = product(a.view, b.view, m, n, k);
    for (int threads : {2, 3, 7}) {
      std::vector<float> c(size(m * n), 7.0f);
      const drx::run::dealt_product<float> dealt{a.view, b.view, c.data(), m, n, k, threads};
      for (int t = 0; t < threads; ++t) {
        drx::buffer work(size(dealt.work_of(t)) * sizeof(float));
        dealt.run(t, reinterpret_cast<float*>(work.data()));
      }
      CHECK(c == whole);
    }
  };
  same(333, 290, 300);
  same(50, 777, 70);
  same(30, 230, 33'000);
  using dealt = drx::run::dealt_product<float>;
  CHECK(dealt::tasks_for(256, 256, 257, 64) == 8);
  CHECK(dealt::tasks_for(1024, 64, 1024, 4) == 4);
  CHECK(dealt::tasks_for(40, 40, 100'000, 4) == 1);
}
TEST_CASE("products of nothing") {
  const float none = 1;
  CHECK(product<float>({&none, 0, 1}, {&none, 5, 1}, 3, 5, 0) == std::vector<float>(15, 0.0f));
  CHECK(product<float>({&none, 4, 1}, {&none, 5, 1}, 0, 5, 4).empty());
  CHECK(product<float>({&none, 4, 1}, {&none, 0, 1}, 3, 0, 4).empty());
}
TEST_CASE("infinite numbers stay in their rows and columns") {
  constexpr std::int64_t m = 31, n = 37, k = 20;
  std::vector<float> a(m * k, 1.0f), b(k * n, 1.0f);
  a[30 * k + 3] = std::numeric_limits<float>::infinity();
  b[4 * n + 36] = std::numeric_limits<float>::infinity();
  const auto c = product<float>({a.data(), k, 1}, {b.data(), n, 1}, m, n, k);
  bool right = true;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      right = right && (i == 30 || j == 36 ? std::isinf(c[size(i * n + j)]) : c[size(i * n + j)] == 20);
  CHECK(right);
}
TEST_CASE("sums of chains of parts") {
  std::mt19937 random(3);
  constexpr std::int64_t chain = drx::machine::product_chain;
  for (std::int64_t k : {chain, chain + 1, 3 * chain + 1000}) {
    check<float>(3, 5, k, random);
    check<double>(17, 3, k, random);
    const std::vector<float> equal(size(4 * k), 0.1f);  // each addition may be rounded the same way
    const strided_matrix<float> a{equal.data(), k, 1}, b{equal.data(), 4, 1};
    CHECK(error_of(product(a, b, 2, 4, k), a, b, 2, 4, k) <= 16);
  }
}

namespace {
constexpr auto plain = [](auto x, auto y) { return drx::matmul(x, y); };
constexpr auto gradient = [](auto x, auto y) {
  return drx::grad([=](auto w) { return drx::sum(drx::square(drx::tanh(drx::matmul(x, w)))); })(y);
};
}  // namespace

TEST_CASE("large products of programs") {
  harness::check_run<drx::program<plain, drx::array<double, 2, 257, 260>, drx::array<double, 2, 260, 270>>>({}, {1});
  harness::check_run<drx::program<gradient, drx::array<float, 150, 400>, drx::array<float, 400, 300>>>({}, {1});
}
