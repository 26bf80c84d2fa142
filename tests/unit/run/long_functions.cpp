// Long functions run in two halves, each for many numbers; outer products run in the loop of what reads them.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <limits>

namespace {

template <class T, int... E>
using array = drx::array<T, E...>;

constexpr auto flat = [](auto x) { return drx::tanh(x * 2) + drx::sigmoid(x - 1) * x; };
constexpr auto nested = [](auto x) { return drx::tanh(drx::sigmoid(drx::tanh(x)) * 3 - 1); };
constexpr auto with_ranged = [](auto x) { return drx::tanh(drx::sin(x)) + drx::cos(drx::sigmoid(x)); };
constexpr auto in_place = [](auto x) {  // the sums part the loops, so that results lie where operands were
  const auto y = drx::tanh(x * 2 + 0 * drx::sum(x));
  return drx::sigmoid(y + 0 * drx::sum(y)) + y;
};
constexpr auto layer = [](auto x, auto w, auto b) { return drx::tanh(drx::matmul(x, w) + b); };
constexpr auto layers = [](auto x, auto w, auto b) {
  return drx::value_and_grad(
      [](auto u, auto v, auto c) { return drx::sum(drx::sigmoid(drx::tanh(drx::matmul(v, u) + c))); })(w, x, b);
};

template <class P>
void check(double high = 3) {
  harness::check_run<P>({.low = -high, .high = high}, {1});
}

constexpr auto outer = [](auto x, auto y) { return drx::matmul(x, y) * 2 + 1; };
constexpr auto outer_of_rows = [](auto x, auto y) { return drx::matmul(drx::transpose(x), y); };
constexpr auto outer_twice = [](auto x, auto y) {
  return drx::matmul(drx::matmul(x, y), drx::transpose(drx::matmul(x, y)));
};
constexpr auto in_a_loop = [](auto x, auto y) {
  return drx::fori_loop<3>(drx::matmul(x, y), [=](auto z) { return z * 0.5 + drx::matmul(x, y + 1); });
};

}  // namespace

TEST_CASE_TEMPLATE("flat loops of any length", T, float, double) {
  check<drx::program<flat, array<T, 5>>>();
  check<drx::program<flat, array<T, 64>>>();
  check<drx::program<flat, array<T, 700>>>();
}

TEST_CASE("functions of functions, beside fast ones, in place") {
  check<drx::program<nested, array<double, 600>>>();
  check<drx::program<with_ranged, array<double, 600>>>();
  check<drx::program<with_ranged, array<double, 600>>>(1e9);
  check<drx::program<with_ranged, array<float, 600>>>(1e3);
  check<drx::program<in_place, array<double, 600>>>();
}

TEST_CASE("after products, in rows") {
  check<drx::program<layer, array<double, 33, 5>, array<double, 5, 48>, array<double, 48>>>();
  check<drx::program<layer, array<float, 33, 5>, array<float, 5, 32>, array<float, 32>>>();
  check<drx::program<layer, array<double, 9, 5>, array<double, 5, 70>, array<double, 70>>>();
  check<drx::program<layers, array<double, 20, 4>, array<double, 4, 16>, array<double, 16>>>();
}

TEST_CASE("special values") {
  using P = drx::program<flat, array<double, 70>>;
  constexpr double inf = std::numeric_limits<double>::infinity();
  drx::tensor x({drx::dtype::float64, drx::make_shape(70)});
  for (int i = 0; i < 70; ++i) x.data<double>()[i] = i - 35;
  x.data<double>()[3] = inf, x.data<double>()[64] = -1e300,
  x.data<double>()[69] = std::numeric_limits<double>::quiet_NaN();
  const harness::tensors y = harness::run_serial<P>({x});
  harness::check_near(y, harness::run_plain<P>({x}), 10);
  CHECK(std::isnan(y[0].data<double>()[69]));
  CHECK(y[0].data<double>()[3] == inf);
}

TEST_CASE_TEMPLATE("outer products", T, float, double, std::int32_t) {
  harness::check_run<drx::program<outer, array<T, 5, 1>, array<T, 1, 7>>>({}, {1});
  harness::check_run<drx::program<outer, array<T, 1, 1>, array<T, 1, 70>>>({}, {1});
  harness::check_run<drx::program<outer, array<T, 2, 5, 1>, array<T, 2, 1, 3>>>({}, {1});
  harness::check_run<drx::program<outer_of_rows, array<T, 1, 6>, array<T, 1, 4>>>({}, {1});
  harness::check_run<drx::program<outer_twice, array<T, 6, 1>, array<T, 1, 4>>>({}, {1});
}

TEST_CASE("an outer product in a loop's body") {
  check<drx::program<in_a_loop, array<double, 6, 1>, array<double, 1, 4>>>();
}
