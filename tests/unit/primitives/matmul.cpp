#include <drx/drx.hpp>
#include <drx/tape/print.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A, class B>
concept has_matmul = requires(const A& a, const B& b) { drx::matmul(a, b); };

/// A small whole number per element, so that sums are exact.
template <class A>
A numbered(int seed) {
  A x;
  for (std::int64_t i = 0; i < A::size; ++i) x[i] = static_cast<typename A::value_type>((7 * i + seed) % 5 - 2);
  return x;
}
constexpr auto product = [](auto x, auto y) { return drx::matmul(x, y); };

/// The product against loops over the matrices of a batch; `left` and `right` say which matrix belongs to element b.
template <class A, class B, class L, class R>
void check_product(std::int64_t batches, std::int64_t m, std::int64_t k, std::int64_t n, L left, R right) {
  const A x = numbered<A>(1);
  const B y = numbered<B>(3);
  const auto result = interpreter::call<program<product, A, B>>(x, y);
  const auto z = [&](std::int64_t i) {
    if constexpr (drx::Array<decltype(result)>)
      return result[i];
    else
      return result;
  };
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += x[(left(b) * m + i) * k + l] * y[(right(b) * k + l) * n + j];
        CHECK(z((b * m + i) * n + j) == sum);
      }
}
int transposes_in(const drx::tape& t) {
  int n = 0;
  for (const drx::entry& e : t.entries) n += e.prim == &drx::prim::transpose;
  return n;
}
}  // namespace

TEST_CASE("which products there are") {
  using m23 = array<double, 2, 3>;
  static_assert(has_matmul<m23, array<double, 3, 4>> && has_matmul<m23, array<double, 3>> &&
                has_matmul<array<double, 2>, m23> && has_matmul<array<double, 3>, array<double, 3>> &&
                !has_matmul<m23, m23> && !has_matmul<m23, array<float, 3>> && !has_matmul<m23, array<double>> &&
                !has_matmul<array<bool, 2, 2>, array<bool, 2, 2>>);
  static_assert(has_matmul<array<int, 5, 2, 3>, array<int, 1, 3, 4>> &&
                has_matmul<array<int, 6, 5, 2, 3>, array<int, 5, 3, 4>> &&
                !has_matmul<array<int, 5, 2, 3>, array<int, 4, 3, 4>> &&
                !has_matmul<drx::placed<m23, clients>, array<double, 3>>);
}

TEST_CASE("products of matrices and vectors, one and in batches that broadcast") {
  const auto same = [](std::int64_t b) { return b; };
  const auto first = [](std::int64_t) { return 0; };
  check_product<array<double, 2, 3>, array<double, 3, 4>>(1, 2, 3, 4, same, same);
  check_product<array<double, 2, 3>, array<double, 3>>(1, 2, 3, 1, same, same);
  check_product<array<double, 3>, array<double, 3, 4>>(1, 1, 3, 4, same, same);
  check_product<array<double, 3>, array<double, 3>>(1, 1, 3, 1, same, same);
  check_product<array<double, 5, 2, 3>, array<double, 5, 3, 4>>(5, 2, 3, 4, same, same);
  check_product<array<double, 5, 2, 3>, array<double, 3, 4>>(5, 2, 3, 4, same, first);
  check_product<array<double, 5, 2, 3>, array<double, 1, 3, 4>>(5, 2, 3, 4, same, first);
  check_product<array<double, 2, 3>, array<double, 5, 3, 4>>(5, 2, 3, 4, first, same);
  check_product<array<double, 3>, array<double, 5, 3, 4>>(5, 1, 3, 4, first, same);
  check_product<array<double, 5, 2, 3>, array<double, 3>>(5, 2, 3, 1, same, first);
  check_product<array<double, 2, 5, 2, 3>, array<double, 5, 3, 4>>(10, 2, 3, 4, same, [](auto b) { return b % 5; });
  check_product<array<double, 2, 1, 2, 3>, array<double, 1, 5, 3, 4>>(
      10, 2, 3, 4, [](auto b) { return b / 5; }, [](auto b) { return b % 5; });
  static_assert(
      std::is_same_v<program<product, array<int, 2, 1, 2, 3>, array<int, 5, 3, 1>>::result, array<int, 2, 5, 2, 1>>);
}

TEST_CASE("derivatives of a product whose batch is broadcast") {
  harness::check_program<program<product, array<double, 2, 1, 2, 3>, array<double, 2, 3, 2>>>();
}

TEST_CASE("no transpose is left beside a product, in derivatives of it neither") {
  static constexpr auto f = [](auto x, auto y) {
    return drx::sum(drx::sin(drx::matmul(drx::transpose<0, 2, 1>(x), drx::transpose<0, 2, 1>(y))));
  };
  static constexpr auto slope = [](auto x, auto y) { return drx::grad<0, 1>(f)(x, y); };
  static constexpr auto of_slope = [](auto x, auto y) { return drx::sum(drx::sin(std::get<0>(slope(x, y)))); };
  static constexpr auto second = [](auto x, auto y) { return drx::grad<0, 1>(of_slope)(x, y); };
  using X = array<double, 2, 4, 3>;
  using Y = array<double, 2, 3, 4>;
  CHECK(transposes_in(program<f, X, Y>::tape().thaw()) == 0);
  CHECK(transposes_in(program<slope, X, Y>::tape().thaw()) == 0);
  CHECK(transposes_in(program<second, X, Y>::tape().thaw()) == 0);
}

TEST_CASE("transposes that cancel, join, or move nothing") {
  using drx::make_shape;
  drx::builder b;
  const int x = b.input({drx::dtype::float64, make_shape(2, 3, 4)}),
            row = b.input({drx::dtype::float64, make_shape(1, 4)});
  const int turned = drx::emit::transpose(b, x, {1, 2, 0});
  CHECK(drx::emit::transpose(b, turned, {2, 0, 1}) == x);
  CHECK(drx::emit::transpose(b, turned, {1, 0, 2}) == drx::emit::transpose(b, x, {2, 1, 0}));
  CHECK(b.definition(drx::emit::transpose(b, row, {1, 0}))->prim == &drx::prim::reshape);
}
