#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using v3 = array<double, 3>;
template <class A, int... Axes>
concept has_prod = requires(const A& a) { drx::prod<Axes...>(a); };
constexpr auto product_of = [](auto x) { return drx::prod(x); };
constexpr auto slope_of_product = drx::grad(product_of);
constexpr auto along = [](auto x, auto v) { return drx::sum(drx::grad([](auto y) { return drx::prod(y); })(x) * v); };
constexpr auto curvature_of_product = drx::grad(along);
}  // namespace

TEST_CASE("products over axes") {
  static_assert(has_prod<v3> && has_prod<array<int, 2, 3>, 0, -1> && has_prod<array<int>>);
  static_assert(!has_prod<v3, 1> && !has_prod<array<bool, 2>> && !has_prod<drx::placed<v3, clients>>);
  constexpr auto f = [](auto x, auto none) {
    return std::tuple{drx::prod(x), drx::prod<0, 2>(x), drx::prod<1>(x), drx::prod<0>(none)};
  };
  using P = program<f, array<int, 2, 2, 3>, array<float, 0, 2>>;
  static_assert(std::is_same_v<P::result, std::tuple<array<int>, array<int, 2>, array<int, 2, 3>, array<float, 2>>>);
  array<int, 2, 2, 3> x;
  for (int i = 0; i < 12; ++i) x[i] = i % 5 + 1;
  const auto [all, middle, inner, none] = interpreter::call<P>(x, array<float, 0, 2>{});
  int product = 1, middles[] = {1, 1};
  for (int i = 0; i < 12; ++i) {
    product *= x[i];
    middles[i / 3 % 2] *= x[i];
  }
  CHECK(all == product);
  for (int i = 0; i < 2; ++i) {
    CHECK(middle[i] == middles[i]);
    CHECK(none[i] == 1);
    for (int k = 0; k < 3; ++k) CHECK(inner(i, k) == x(i, 0, k) * x(i, 1, k));
  }
}

TEST_CASE("the gradient is the product of the other factors, with one zero and with two") {
  auto slope = [](const v3& x) { return interpreter::call<program<slope_of_product, v3>>(x); };
  auto curvature = [](const v3& x, const v3& v) {
    return interpreter::call<program<curvature_of_product, v3, v3>>(x, v);
  };
  auto same = [](const v3& a, const v3& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; };
  CHECK(same(slope({2., 3., 5.}), {15., 10., 6.}));
  CHECK(same(slope({2., 0., 5.}), {0., 10., 0.}));
  CHECK(same(slope({2., 0., 0.}), {0., 0., 0.}));
  CHECK(same(curvature({2., 3., 5.}, {1., 0., 0.}), {0., 5., 3.}));
  CHECK(same(curvature({2., 0., 0.}, {0., 1., 1.}), {0., 2., 2.}));
  CHECK(same(curvature({0., 0., 0.}, {1., 1., 1.}), {0., 0., 0.}));
}
