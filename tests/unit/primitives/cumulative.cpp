#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using cube = array<double, 2, 4, 3>;
template <class A, int Axis>
concept cumulates = requires(const A& a) {
  drx::cumsum<Axis>(a);
  drx::cumprod<Axis, drx::direction::backward>(a);
};
}  // namespace

TEST_CASE("what is cumulated") {
  static_assert(cumulates<cube, 2> && cumulates<cube, -3> && cumulates<array<int, 0>, 0>);
  static_assert(!cumulates<cube, 3> && !cumulates<cube, -4> && !cumulates<array<bool, 2>, 0> &&
                !cumulates<array<int>, 0> && !cumulates<drx::placed<cube, clients>, 0>);
}

TEST_CASE("cumulative sums and products, forward and backward") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::cumsum<1>(x), drx::cumsum<1, drx::direction::backward>(x), drx::cumprod<1>(x),
                      drx::cumprod<-2, drx::direction::backward>(x)};
  };
  cube x;
  for (int i = 0; i < 24; ++i) x[i] = i - 8;
  const auto [sums, sums_back, products, products_back] = interpreter::call<program<f, cube>>(x);
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

TEST_CASE("the largest and smallest so far: the first of equal ones, NaNs count") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::cummax(x), drx::cummin(x), drx::cummax<0, drx::direction::backward>(x),
                      drx::cummin<-1, drx::direction::backward>(x)};
  };
  using v6 = array<float, 6>;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto [largest, smallest, largest_back, smallest_back] =
      interpreter::call<program<f, v6>>(v6{2.f, 1.f, 3.f, 3.f, 0.f, nan});
  const float up[] = {2, 2, 3, 3, 3}, down[] = {2, 1, 1, 1, 0};
  for (int i = 0; i < 5; ++i) {
    CHECK(largest[i] == up[i]);
    CHECK(smallest[i] == down[i]);
    CHECK(std::isnan(largest_back[i]));
    CHECK(std::isnan(smallest_back[i]));
  }
  CHECK(std::isnan(largest[5]));
  CHECK(std::isnan(smallest[5]));
  constexpr auto g = drx::grad([](auto x) { return drx::sum(drx::cummax(x)); });
  const auto slope = interpreter::call<program<g, v6>>(v6{2.f, 1.f, 3.f, 3.f, 0.f, 4.f});
  const float winners[] = {2, 0, 3, 0, 0, 1};
  for (int i = 0; i < 6; ++i) CHECK(slope[i] == winners[i]);
}
