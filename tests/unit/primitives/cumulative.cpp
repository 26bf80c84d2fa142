#include <drx/drx.hpp>
#include <drx/run/oracle.hpp>

#include <doctest/doctest.h>

namespace oracle = drx::oracle;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using cube = array<double, 2, 4, 3>;
template <class A, int Axis>
concept cumulates = requires(const A& a) { drx::cumsum<Axis>(a); drx::cumprod<Axis, drx::direction::backward>(a); };
}  // namespace

TEST_CASE("what is cumulated") {
  static_assert(cumulates<cube, 2> && cumulates<cube, -3> && cumulates<array<int, 0>, 0>);
  static_assert(!cumulates<cube, 3> && !cumulates<cube, -4> && !cumulates<array<bool, 2>, 0> && !cumulates<array<int>, 0> &&
                !cumulates<drx::placed<cube, clients>, 0>);
}

TEST_CASE("cumulative sums and products, forward and backward") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::cumsum<1>(x), drx::cumsum<1, drx::direction::backward>(x), drx::cumprod<1>(x),
                      drx::cumprod<-2, drx::direction::backward>(x)};
  };
  cube x;
  for (int i = 0; i < 24; ++i) x[i] = i - 8;
  const auto [sums, sums_back, products, products_back] = oracle::call<program<f, cube>>(x);
  for (int a = 0; a < 2; ++a)
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 4; ++k) {
        double sum = 0, sum_back = 0, product = 1, product_back = 1;
        for (int j = 0; j < 4; ++j) {
          if (j <= k) sum += x(a, j, c);
          if (j <= k) product *= x(a, j, c);
          if (j >= k) sum_back += x(a, j, c);
          if (j >= k) product_back *= x(a, j, c);
        }
        CHECK(sums(a, k, c) == sum);
        CHECK(sums_back(a, k, c) == sum_back);
        CHECK(products(a, k, c) == product);
        CHECK(products_back(a, k, c) == product_back);
      }
}

TEST_CASE("the gradient of a cumulative sum goes the other way") {
  constexpr auto f = [](auto x, auto w) { return drx::sum(drx::cumsum(x) * w); };
  constexpr auto g = drx::grad(f);
  using v5 = array<double, 5>;
  CHECK(drx::show<program<g, v5, v5>>() == R"((%0: f64[5], %1: f64[5]) {
  %2: f64[5] = cumsum[axis=0; backwards] %1
  return %2
}
)");
}
