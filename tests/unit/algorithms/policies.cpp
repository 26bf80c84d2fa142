// Reductions with a policy, beside what they are to compute.
#include <drx/algorithms.hpp>

#include "harness/derivatives.hpp"

#include <cmath>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec = array<double, 4>;
using at_clients = placed<vec, clients>;
const std::vector<vec> x{{1., -2., 0.3, 127.}, {0.5, 8., -4., 0.}, {3., 3.2, -0.1, 0.01}};
const std::vector<vec> nothing(3);
}  // namespace

TEST_CASE("quantised means: multiples of a unit, and what is left out is kept") {
  constexpr auto f = [](auto v, auto e) { return drx::reduce_mean_quantised(v, e); };
  const auto [mean, kept] = interpreter::call<program<f, at_clients, at_clients>>(x, nothing);
  for (std::int64_t i = 0; i < 4; ++i) {
    double total = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      const double unit = std::vector{1., 8 / 127., 3.2 / 127}[m];
      const double sent = std::round(x[m][i] / unit) * unit;
      CHECK(kept[m][i] == doctest::Approx(x[m][i] - sent).epsilon(1e-9));
      total += sent;
    }
    CHECK(mean[i] == doctest::Approx(total / 3));
  }
  constexpr auto slope = drx::grad([](auto v, auto e) { return drx::sum(drx::reduce_mean_quantised(v, e).first); });
  for (const vec& g : interpreter::call<program<slope, at_clients, at_clients>>(x, nothing))
    for (double d : g) CHECK(d == doctest::Approx(1 / 3.));
}

TEST_CASE("sparse means send the largest and keep the others") {
  constexpr auto f = [](auto v, auto e) { return drx::reduce_mean_top<2>(v, e); };
  const auto [mean, kept] = interpreter::call<program<f, at_clients, at_clients>>(x, nothing);
  const vec expected{1., (-2 + 8 + 3.2) / 3, -4 / 3., 127 / 3.};
  for (std::int64_t i = 0; i < 4; ++i) CHECK(mean[i] == doctest::Approx(expected[i]));
  CHECK(kept[0][0] == 1);
  CHECK(kept[0][3] == 0);
  CHECK(kept[1][0] == 0.5);
}

TEST_CASE("private sums: members clipped, noise of the deviation asked for") {
  using big = array<double, 2000>;
  constexpr auto f = [](auto seed, auto v) { return drx::reduce_sum_private(v, drx::random_key(seed), 2., 1.5); };
  big ones;
  for (double& v : ones) v = 1;
  const big y =
      interpreter::call<program<f, std::int64_t, placed<big, clients>>>(std::int64_t{7}, std::vector<big>(3, ones));
  double mean = 0, squares = 0;
  const double expected = 3 * 2 / std::sqrt(2000.);
  for (double v : y) mean += v / 2000, squares += (v - expected) * (v - expected) / 2000;
  CHECK(std::abs(mean - expected) < 5 * 3 / std::sqrt(2000.));
  CHECK(std::sqrt(squares) == doctest::Approx(3).epsilon(0.08));
}

TEST_CASE("masked sums: the masks cancel to the last bit, for any number of members") {
  constexpr auto f = [](auto seed, auto v) { return drx::reduce_sum_masked<3>(v, drx::random_key(seed), 65536.); };
  for (std::size_t members = 0; members <= 3; ++members) {
    const vec y = interpreter::call<program<f, std::int64_t, at_clients>>(
        std::int64_t{7}, std::vector(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(members)));
    for (std::int64_t i = 0; i < 4; ++i) {
      double total = 0;
      for (std::size_t m = 0; m < members; ++m) total += std::round(x[m][i] * 65536);
      CHECK(y[i] == total / 65536);
    }
  }
}

TEST_CASE("NaN and zeros") {
  const double nan = std::nan("");
  const std::vector<vec> bad{{0, 0, 0, 0}, {nan, 1, 2, 3}, {4e-323, 0, 0, 0}};
  constexpr auto quantised = [](auto v, auto e) { return drx::reduce_mean_quantised(v, e); };
  const auto [mean, kept] = interpreter::call<program<quantised, at_clients, at_clients>>(bad, nothing);
  CHECK(std::isnan(mean[0]));
  CHECK(kept[2][0] == 4e-323);
  constexpr auto top = [](auto v, auto e) { return drx::reduce_mean_top<1>(v, e); };
  CHECK(std::isnan(interpreter::call<program<top, at_clients, at_clients>>(bad, nothing).first[0]));
}
