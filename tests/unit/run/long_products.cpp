// Products along axes of up to sixteen million floats: their error is that of sums in parts, a few roundings, not one
// for each term.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

enum class numbers { uniform, alternating, equal };

template <class A>
std::unique_ptr<A> draw(numbers kind, std::uint32_t seed) {
  auto x = std::make_unique<A>();
  std::uint32_t state = seed;
  for (std::int64_t i = 0; i < A::size; ++i) {
    state = state * 1664525u + 1013904223u;
    const auto u = static_cast<float>(state >> 8) * 0x1p-24f;
    (*x)[i] = kind == numbers::equal ? 0.1f : kind == numbers::alternating && i % 2 == 1 ? -u : u;
  }
  return x;
}
/// Element i of what is a matrix of `columns` columns, or of its transpose.
struct view {
  const float* data;
  std::int64_t columns;
  bool transposed = false;
  double operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<double>(transposed ? data[j * columns + i] : data[i * columns + j]);
  }
};
/// The largest error of `factor` x y, z, relative to the sum of magnitudes. Of a large product some rows and columns
/// are looked at.
double error_of(view x, view y, std::int64_t m, std::int64_t n, std::int64_t k, const float* z, double factor = 1) {
  double worst = 0;
  for (std::int64_t i = 0; i < m; i += m > 4 ? m - 1 : 1)
    for (std::int64_t j = 0; j < n; j += n > 4 ? n - 1 : 1) {
      double sum = 0, size = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double p = factor * x(i, l) * y(l, j);
        sum += p;
        size += std::abs(p);
      }
      const double e = std::abs(static_cast<double>(z[i * n + j]) - sum) / size;
      if (!(e <= worst)) worst = e;
    }
  return worst;
}
const float* elements_of(const float& x) { return &x; }
template <class A>
const float* elements_of(const A& x) {
  return x.data();
}
/// Unequal numbers are rounded up as often as down; a sum of equal ones is rounded the same way for a while.
void check(double error, numbers kind, std::int64_t k) {
  CAPTURE(k);
  CAPTURE(static_cast<int>(kind));
  CHECK(error <= (kind == numbers::equal ? 16 : 8) * 0x1p-24);
}

constexpr auto product = [](auto x, auto y) { return drx::matmul(x, y); };
constexpr auto tx = [](auto x, auto y) { return drx::matmul(drx::transpose(x), y); };
constexpr auto ty = [](auto x, auto y) { return drx::matmul(x, drx::transpose(y)); };
constexpr auto both = [](auto x, auto y) { return drx::matmul(drx::transpose(x), drx::transpose(y)); };

template <const auto& f, class X, class Y>
void check_product(std::int64_t m, std::int64_t n, std::int64_t k, bool x_transposed, bool y_transposed,
                   bool interpreted) {
  using P = drx::program<f, X, Y>;
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<P> program(e, c);
  for (numbers kind : {numbers::uniform, numbers::alternating, numbers::equal}) {
    const auto x = draw<X>(kind, 1);
    const auto y = draw<Y>(kind, 2);
    const auto z = std::make_unique<typename drx::compiled<P>::result>();
    program.call(*z, *x, *y);
    const view a{x->data(), x_transposed ? m : k, x_transposed}, b{y->data(), y_transposed ? k : n, y_transposed};
    check(error_of(a, b, m, n, k, elements_of(*z)), kind, k);
    if (!interpreted) continue;
    drx::tensor p({drx::dtype::float32, X::shape}), q({drx::dtype::float32, Y::shape});
    std::copy_n(x->data(), X::size, p.template data<float>());
    std::copy_n(y->data(), Y::size, q.template data<float>());
    const auto plain = drx::interpreter::run(P::tape().thaw(), {p, q});
    CHECK(error_of(a, b, m, n, k, plain[0].template data<float>()) <= 0x1p-24);
  }
}
}  // namespace

TEST_CASE("the inner product of long vectors") {
  using long_one = drx::array<float, 16'000'000>;
  using short_one = drx::array<float, 10'001>;
  check_product<product, long_one, long_one>(1, 1, 16'000'000, false, false, false);
  check_product<product, short_one, short_one>(1, 1, 10'001, false, false, true);
}
TEST_CASE("products of matrices with vectors along a long axis") {
  using tall = drx::array<float, 1'000'003, 10>;
  using wide = drx::array<float, 3, 1'000'003>;
  using vector = drx::array<float, 1'000'003>;
  check_product<tx, tall, vector>(10, 1, 1'000'003, true, false, false);
  check_product<product, vector, tall>(1, 10, 1'000'003, false, false, false);
  check_product<product, wide, vector>(3, 1, 1'000'003, false, false, false);
  check_product<ty, vector, wide>(1, 3, 1'000'003, false, true, false);
}
TEST_CASE("a vector times a wide matrix, row by row") {
  using rows = drx::array<float, 20'003, 263>;
  check_product<product, drx::array<float, 20'003>, rows>(1, 263, 20'003, false, false, false);
  check_product<tx, rows, drx::array<float, 20'003>>(263, 1, 20'003, true, false, false);
}
TEST_CASE("products of matrices along a long axis") {
  using drx::array;
  check_product<product, array<float, 8, 10'000>, array<float, 10'000, 8>>(8, 8, 10'000, false, false, true);
  check_product<tx, array<float, 10'000, 8>, array<float, 10'000, 8>>(8, 8, 10'000, true, false, true);
  check_product<tx, array<float, 70'000, 16>, array<float, 70'000, 5>>(16, 5, 70'000, true, false,
                                                                       false);  // few columns
  check_product<ty, array<float, 5, 10'240>, array<float, 32, 10'240>>(5, 32, 10'240, false, true, false);  // few rows
  check_product<both, array<float, 10'000, 50>, array<float, 24, 10'000>>(50, 24, 10'000, true, true,
                                                                          false);  // a copied panel
}
TEST_CASE("large products of matrices") {
  check_product<tx, drx::array<float, 200'000, 10>, drx::array<float, 200'000, 12>>(10, 12, 200'000, true, false,
                                                                                    false);
  check_product<product, drx::array<float, 48, 10'000>, drx::array<float, 10'000, 48>>(48, 48, 10'000, false, false,
                                                                                       false);
}

namespace {
constexpr std::int64_t rows = 1'000'003;
using vector = drx::array<float, rows>;
using table = drx::array<float, rows, 8>;
using weights = drx::array<float, 8>;
constexpr auto inner = [](auto v, auto x) {
  return drx::grad([=](auto w) { return drx::dot(w * v, x); })(drx::sum(v));
};
constexpr auto squares = [](auto w, auto x) {
  return drx::value_and_grad([=](auto v) { return drx::sum(drx::square(drx::dot(x, v))); })(w);
};
}  // namespace

TEST_CASE("the gradient of an inner product by a factor is one along the long axis") {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<drx::program<inner, vector, vector>> program(e, c);
  for (numbers kind : {numbers::uniform, numbers::alternating, numbers::equal}) {
    const auto v = draw<vector>(kind, 1), x = draw<vector>(kind, 2);
    const float slope = program(*v, *x);
    check(error_of({v->data(), rows}, {x->data(), 1}, 1, 1, rows, &slope), kind, rows);
  }
}
TEST_CASE("the gradient of a sum of squared residuals is a sum over all rows") {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<drx::program<squares, weights, table>> program(e, c);
  for (numbers kind : {numbers::uniform, numbers::alternating, numbers::equal}) {
    const auto w = draw<weights>(kind, 1);
    const auto x = draw<table>(kind, 2);
    const auto [value, slope] = program(*w, *x);
    std::vector<float> z(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < 8; ++j) sum += static_cast<double>((*x)[i * 8 + j]) * static_cast<double>((*w)[j]);
      z[static_cast<std::size_t>(i)] = static_cast<float>(sum);
    }
    const auto with_own_rounding = [&](double error) {
      return error > 8 * 0x1p-24 ? error - 8 * 0x1p-24 : 0;
    };  // of the residuals
    check(with_own_rounding(error_of({z.data(), 1, true}, {z.data(), 1}, 1, 1, rows, &value)), kind, rows);
    check(with_own_rounding(error_of({x->data(), 8, true}, {z.data(), 1}, 8, 1, rows, slope.data(), 2)), kind, rows);
  }
}
