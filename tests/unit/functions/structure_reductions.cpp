#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::batched;
using drx::program;

namespace {
struct layer {
  array<double, 2, 3> w;
  array<double, 2> b;
};
struct counts {
  array<int, 2> n;
  drx::scalar<int> total;
};
struct network {
  layer hidden;
  drx::scalar<double> scale;
};
}  // namespace
BOOST_HANA_ADAPT_STRUCT(layer, w, b);
BOOST_HANA_ADAPT_STRUCT(counts, n, total);
BOOST_HANA_ADAPT_STRUCT(network, hidden, scale);

namespace {
const layer one{{1, 2, 3, 4, 5, 6}, {-1, -2}};
const layer two{{1, 0, 1, 0, 1, 0}, {2, 1}};
template <class X>
concept has_norm = requires(const X& x) { drx::norm(x); };
template <class X>
concept has_mean_of_batch = requires(const X& x) { drx::mean<0>(x); };
}  // namespace

TEST_CASE("which structures have sums, products and norms") {
  static_assert(has_norm<layer> && has_norm<std::tuple<layer, double>> && !has_norm<std::pair<layer, float>> &&
                !has_norm<counts>);
  static_assert(has_mean_of_batch<batched<layer, 2>> && !has_mean_of_batch<batched<counts, 2>> &&
                !has_mean_of_batch<layer>);
}

TEST_CASE("of all elements of all leaves") {
  constexpr auto f = [](auto x, auto y, auto n) {
    return std::tuple{drx::sum(x), drx::mean(x), drx::dot(x, y), drx::norm(x), drx::sum(n), drx::mean(n)};
  };
  using P = program<f, layer, layer, counts>;
  const auto [sum, mean, dot, norm, whole, mean_of_whole] = interpreter::call<P>(one, two, counts{{1, 2}, 4});
  CHECK(sum == 18);
  CHECK(mean == doctest::Approx(18.0 / 8));
  CHECK(dot == 9 - 2 - 2);
  CHECK(norm == doctest::Approx(std::sqrt(91.0 + 5)));
  CHECK(whole == 7);
  CHECK(mean_of_whole == doctest::Approx(7.0 / 3));
}

TEST_CASE("derivatives of sums and products of structures") {
  constexpr auto f = [](auto x, auto y) { return drx::dot(x, y) * drx::norm(y) + drx::mean(x) - drx::sum(y); };
  harness::check_program<program<f, network, network>>();
}

TEST_CASE("the norm of zeros has derivative 0") {
  constexpr auto f = drx::grad([](auto x) { return drx::norm(x); });
  const layer g = interpreter::call<program<f, layer>>(layer{});
  for (double v : g.w) CHECK(v == 0);
  for (double v : g.b) CHECK(v == 0);
}

TEST_CASE("clipping a gradient in a struct to a norm of 1") {
  constexpr auto f = [](auto g) { return g / drx::max(drx::norm(g), 1.0); };
  const layer g = interpreter::call<program<f, layer>>(one);
  double squares = 0;
  for (double v : g.w) squares += v * v;
  for (double v : g.b) squares += v * v;
  CHECK(squares == doctest::Approx(1));
}

TEST_CASE("conjugate gradients on a struct") {  // (3 + x x^T) y = b, where x is a structure
  constexpr auto solved = [](auto x, auto b) {
    auto times = [=](auto v) { return 3 * v + x * drx::dot(x, v); };
    auto step = [=](auto c) {
      auto [y, r, p] = c;
      auto ap = times(p);
      auto a = drx::dot(r, r) / drx::dot(p, ap);
      auto next = r - a * ap;
      return std::tuple{y + a * p, next, next + p * (drx::dot(next, next) / drx::dot(r, r))};
    };
    auto [y, r, p] = drx::fori_loop<2>(std::tuple{0 * b, b, b}, step);
    return std::pair{y, times(y) - b};
  };
  const auto [y, residual] = interpreter::call<program<solved, layer, layer>>(one, two);
  for (double v : residual.w) CHECK(v == doctest::Approx(0).epsilon(1e-12));
  for (double v : residual.b) CHECK(v == doctest::Approx(0).epsilon(1e-12));
  CHECK(y.w[1] == doctest::Approx(-one.w[1] * 5 / 3 / (3 + 96)));
}

TEST_CASE("over the axis of a batch") {
  constexpr auto f = [](auto x, auto n) {
    return std::tuple{drx::sum<0>(x), drx::mean<0>(x), drx::max<0>(x), drx::min<0>(x), drx::sum<0>(n)};
  };
  using P = program<f, batched<layer, 2>, batched<counts, 3>>;
  static_assert(std::is_same_v<P::result, std::tuple<layer, layer, layer, layer, counts>>);
  batched<layer, 2> x;
  x.set(0, one);
  x.set(1, two);
  batched<counts, 3> n;
  for (int i = 0; i < 3; ++i) n.set(i, {{i, 2 * i}, i * i});
  const auto [sum, mean, largest, least, total] = interpreter::call<P>(x, n);
  for (int i = 0; i < 6; ++i) {
    CHECK(sum.w[i] == one.w[i] + two.w[i]);
    CHECK(mean.w[i] == sum.w[i] / 2);
    CHECK(largest.w[i] == std::max(one.w[i], two.w[i]));
    CHECK(least.w[i] == std::min(one.w[i], two.w[i]));
  }
  CHECK(sum.b[1] == -1);
  CHECK(total.n[1] == 6);
  CHECK(total.total.item() == 5);
}

TEST_CASE("values and members of a batch") {
  constexpr auto f = [](auto x, auto i) {
    const auto w = x[&network::hidden][&layer::w];  // a member of a member: array<double, 3, 2, 3>
    return std::tuple{x[1] - x[i], drx::sum<0>(w), x[&network::scale], drx::index(x, -1)};
  };
  using P = program<f, batched<network, 3>, int>;
  static_assert(std::is_same_v<P::result, std::tuple<network, array<double, 2, 3>, array<double, 3>, network>>);
  batched<network, 3> x;
  for (int i = 0; i < 3; ++i) x.set(i, {{one.w, {1. * i, 2. * i}}, 10. * i});
  const auto [difference, sum, scales, last] = interpreter::call<P>(x, 2);
  CHECK(difference.hidden.b[1] == -2);
  CHECK(difference.scale.item() == -10);
  CHECK(sum[5] == 18);
  CHECK(scales[2] == 20);
  CHECK(last.hidden.b[1] == 4);

  CHECK(x[&network::scale][2] == 20);  // the same of values that are there
  CHECK(x[&network::hidden][&layer::b](1, 1) == 2);
  CHECK(x[2].scale.item() == 20);
  CHECK_THROWS_WITH_AS((void)x[3], "drx: value 3 of a batch of 3", std::out_of_range);
  CHECK_THROWS_WITH_AS(x.set(-1, {}), "drx: value -1 of a batch of 3", std::out_of_range);
}

TEST_CASE("derivatives through a batch") {
  constexpr auto f = [](auto x) {
    return drx::dot(x[0], drx::mean<0>(x)) + drx::sum(drx::max<0>(x)) * drx::sum(drx::square(x[&network::scale]));
  };
  harness::check_program<program<f, batched<network, 3>>>();
}
