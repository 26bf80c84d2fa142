#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::program;

namespace {
using column = array<double, 3, 1>;
using row = array<double, 1, 2>;

constexpr auto squares = [](auto x) { return drx::sum(drx::square(x)); };
constexpr auto elements = [](auto x, auto y) { return squares(x * y); };  // all written, in another order
// The norm of an example's gradient in a dense layer: x c^T, without it being written.
constexpr auto norm_of_gradient = [](auto w, auto x, auto t) {
  auto loss = [=](auto v) { return drx::sum(drx::square(drx::tanh(drx::matmul(x, v)) - t)); };
  return squares(drx::grad(loss)(w));
};
constexpr auto norm_by_elements = [](auto w, auto x, auto t) {
  auto y = drx::tanh(drx::matmul(x, w));
  auto slope = 2 * (y - t) * (1 - drx::square(y));
  return elements(drx::transpose(x), slope);
};
template <class P>
bool has_product() {
  return drx::show<P>().find("matmul") != std::string::npos;
}
}  // namespace

TEST_CASE("the squared norm of an outer product is the product of two") {
  constexpr auto outer = [](auto x, auto y) { return squares(drx::matmul(x, y)); };
  constexpr auto turned = [](auto x, auto y) { return squares(drx::matmul(drx::transpose(y), drx::transpose(x))); };
  constexpr auto left = [](auto x, auto y) { return squares(drx::matmul(drx::transpose(drx::reshape<1, 3>(x)), y)); };
  constexpr auto right = [](auto x, auto y) { return squares(drx::matmul(x, drx::transpose(drx::reshape<2, 1>(y)))); };
  CHECK(!has_product<program<outer, column, row>>());
  CHECK(!has_product<program<turned, column, row>>());
  const auto check = []<auto F>() {
    harness::check_program<program<F, column, row>>();
    constexpr auto difference = [](auto x, auto y) { return F(x, y) - elements(x, y); };
    harness::check_zero<program<difference, column, row>>();
  };
  check.operator()<outer>();
  check.operator()<turned>();
  check.operator()<left>();
  check.operator()<right>();
}

TEST_CASE("norms of gradients have derivatives of second order") {
  using m32 = array<double, 3, 2>;
  using x3 = array<double, 1, 3>;
  harness::check_program<program<norm_of_gradient, m32, x3, row>>({.tolerance = 1e-5});
  constexpr auto difference = [](auto w, auto x, auto t, auto v) {
    auto one = [=](auto u) { return norm_of_gradient(u, x, t); };
    auto other = [=](auto u) { return norm_by_elements(u, x, t); };
    return std::tuple{one(w) - other(w), drx::grad(one)(w) - drx::grad(other)(w),
                      drx::hvp(one, w, v) - drx::hvp(other, w, v)};
  };
  harness::check_zero<program<difference, m32, x3, row, m32>>();
}

TEST_CASE("a sum over an axis without elements, of an array that was reshaped to other axes") {
  constexpr auto f = [](auto x) { return drx::sum<0>(drx::reshape<0, 2>(x)) + 1; };  // x: [0, 3]
  constexpr auto g = [](auto x) { return drx::sum<0>(drx::reshape<0>(x)) + 1; };
  harness::check_program<program<f, array<double, 0, 3>>>();
  harness::check_program<program<g, array<double, 0, 3>>>();
}
