// Loops that carry products in place of matrices, on rows whose squares leave the range of numbers; and the way back
// through such loops.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include "harness/regression.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace {

using namespace regression;
template <class T>
using matrix = drx::array<T, columns, outputs>;
template <class T>
using data = drx::array<T, rows, columns>;
template <class T>
using results = drx::array<T, rows, outputs>;

template <drx::loop_products Products>
constexpr auto weighted = [](auto w, auto rate, auto x, auto y, auto weights) {
  const auto step = [=](auto v) {
    return v - rate * drx::matmul(drx::transpose(x), weights * (drx::matmul(x, v) - y));
  };
  return drx::fori_loop<100>(w, step, Products);
};
template <drx::loop_products Products>
using weighted_program =
    drx::program<weighted<Products>, matrix<float>, float, data<float>, results<float>, results<float>>;
using Weighted = weighted_program<drx::loop_products::by_program>;

template <int Steps>
constexpr auto slope = [](auto rate, auto w, auto x, auto y, auto chosen) {
  return drx::value_and_grad([=](auto r) {
    const auto last = drx::fori_loop<Steps>(
        w, [=](auto v) { return v - r * drx::matmul(drx::transpose(x), change(drx::matmul(x, v), y, chosen)); },
        drx::keep_all);
    return drx::mean(drx::square(drx::matmul(x, last) - y));
  })(rate);
};
template <class T, int Steps>
using slope_program = drx::program<slope<Steps>, T, matrix<T>, data<T>, results<T>, drx::array<T, 3>>;

template <class T>
std::vector<T> as(const std::vector<double>& v) {
  return {v.begin(), v.end()};
}
template <class P>
constexpr double work = drx::plan::multiplications(drx::plan::staged_program<P>::tape_constant().thaw());

/// The slope of the loss by the rate, times the rate, of each of some problems.
template <class P, class T>
std::vector<double> slopes(const std::vector<problem>& of) {
  drx::serial_executor executor;
  drx::single_rank rank;
  drx::compiled<P> run(executor, rank);
  std::vector<double> r;
  for (const problem& p : of) {
    drx::array<T, 3> chosen{0, 0, 0};
    chosen[p.of] = 1;
    const auto both = run(static_cast<T>(p.rate), filled<matrix<T>>(as<T>(p.w)), filled<data<T>>(as<T>(p.x)),
                          filled<results<T>>(as<T>(p.y)), chosen);
    r.push_back(std::get<1>(both) * p.rate);
  }
  return r;
}
template <int Steps>
void check_slopes() {
  using P = slope_program<float, Steps>;
  using Plain = drx::without_carried_products<P>;
  static_assert(work<P> < .8 * work<Plain>);
  std::vector<problem> of;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const std::string& spectrum : spectra)
      for (const loss l : {squares, entropy, units}) {
        if (sanitized && of.size() == 3) break;
        generator r(seed);
        of.push_back(make(spectrum, l, .5, r));
      }
  const auto expected = slopes<drx::without_carried_products<slope_program<double, Steps>>, double>(of);
  const auto carried = slopes<P, float>(of), plain = slopes<Plain, float>(of);
  double of_carried = 0, of_plain = 0;  // logarithms: one number's error may be small by chance, the mean of many not
  for (std::size_t i = 0; i < of.size(); ++i) {
    constexpr double unit = 1.2e-7;
    const double by_rate = expected[i];
    const double scale =
        std::abs(by_rate) + .01;  // y is of order 1; where steps have converged the slope is of rounding only
    const double e = std::abs(carried[i] - by_rate) / scale, f = std::abs(plain[i] - by_rate) / scale;
    REQUIRE(std::isfinite(e));
    CHECK_MESSAGE(e <= 10 * f + 100 * unit, of[i].name << ": " << e << ", plain " << f);
    of_carried += std::log(e + unit);
    of_plain += std::log(f + unit);
  }
  const double ratio = std::exp((of_carried - of_plain) / static_cast<double>(of.size()));
  MESSAGE(Steps << " steps there and back, " << of.size()
                << " problems: error of the slope over plain evaluation's: " << ratio);
  if (!sanitized) CHECK(ratio < 1.5);
}

}  // namespace

TEST_CASE("rows of any magnitude, and rows that do not count") {
  drx::serial_executor executor;
  drx::single_rank rank;
  static_assert(work<Weighted> < .8 * work<drx::without_carried_products<Weighted>>);
  drx::compiled<Weighted> carried(executor, rank);
  using Plain = weighted_program<drx::no_carried_products>;  // a loop's word, and what the program says otherwise
  static_assert(work<Plain> == work<drx::without_carried_products<Weighted>>);
  static_assert(work<drx::without_carried_products<weighted_program<drx::carry_products>>> == work<Weighted>);
  drx::compiled<Plain> plain(executor, rank);
  generator r(5);
  const problem p = make("gaussian", squares, 1, r);
  const auto x = filled<data<float>>(as<float>(p.x));
  const auto y = filled<results<float>>(as<float>(p.y));
  auto weights = y;
  std::fill_n(weights.data(), weights.size, 1.f);
  const auto check = [&](const auto& w, float rate, const auto& on) {
    const auto got = carried(w, rate, on, y, weights), expected = plain(w, rate, on, y, weights);
    CHECK(error_of({got.data(), got.data() + got.size}, {expected.data(), expected.data() + expected.size}) < 1e-5);
  };
  for (const int exponent : {-60, -30, 0, 30, 61}) {  // x w stays as it is
    CAPTURE(exponent);
    auto w = filled<matrix<float>>(as<float>(p.w));
    auto on = x;
    std::for_each_n(w.data(), w.size, [&](float& v) { v = std::ldexp(v, -exponent); });
    std::for_each_n(on.data(), on.size, [&](float& v) { v = std::ldexp(v, exponent); });
    check(w, std::ldexp(static_cast<float>(p.rate), -2 * exponent), on);
  }
  const auto w = filled<matrix<float>>(as<float>(p.w));
  for (const float large : {1e20f, 1e30f, 1e-30f, 1e-40f, 0.f}) {
    CAPTURE(large);
    auto on = x;
    for (const int row : {3, 20}) {
      std::fill_n(on.data() + row * columns, columns, large);
      std::fill_n(weights.data() + row * outputs, outputs, 0.f);
    }
    check(w, static_cast<float>(p.rate), on);
  }
}
TEST_CASE("slopes by the rate, which the way back through 200 steps gives") { check_slopes<200>(); }
