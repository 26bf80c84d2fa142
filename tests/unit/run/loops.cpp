// Loops around stages and loops in loops: where their workspaces lie in each other.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include "harness/run.hpp"

#include <cmath>
#include <vector>

namespace {

struct samples : drx::placement<samples> {};
using sample = std::tuple<drx::array<double, 2>, double>;

constexpr auto error = [](auto w, auto s) { return drx::square(drx::dot(w, std::get<0>(s)) - std::get<1>(s)); };
constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<samples>(w), data));
};
constexpr auto fit = [](auto w, auto data) {
  return drx::fori_loop<20>(w, [=](auto v) { return v - 0.2 * drx::grad(loss)(v, data); });
};

// The inner loop hands its carries to each other; the outer one keeps a third, so that the inner frame is moved.
constexpr auto exchange = [](auto a, auto b) {
  return drx::fori_loop<3>(std::tuple{a, b, a * b}, [](auto c) {
    auto [x, y, z] = c;
    auto [p, q] =
        drx::fori_loop<3>(std::tuple{x, y}, [](auto d) { return std::tuple{std::get<1>(d), std::get<0>(d)}; });
    return std::tuple{p + 0.5 * z, q * 0.25, z + p};
  });
};

// The same where another loop takes what they leave for its carries, or a branch for its results.
constexpr auto exchange_and_leave = [](auto a, auto b) {
  const auto turned = [](auto x, auto y) {
    return drx::fori_loop<3>(std::tuple{x + 1.0, y * 0.5},
                             [](auto d) { return std::tuple{std::get<1>(d), std::get<0>(d)}; });
  };
  const auto carried =
      drx::fori_loop<2>(std::tuple{a, b}, [=](auto c) { return turned(std::get<0>(c), std::get<1>(c)); });
  return std::pair{carried, drx::cond(drx::sum(a) > 0, turned, [](auto x, auto y) { return std::tuple{y, x}; }, a, b)};
};

}  // namespace

TEST_CASE("a loop around a stage of many small members") {
  drx::serial_executor executor;
  drx::single_rank rank;
  using P = drx::program<fit, drx::array<double, 2>, drx::placed<sample, samples>>;
  for (const std::int64_t n : {5, 1023, 1024, 1200}) {
    const auto load = [](std::int64_t i) {
      const auto t = static_cast<double>(i);
      return sample{{std::sin(t), std::cos(3 * t)}, 2 * std::sin(t) - std::cos(3 * t)};
    };
    std::vector<sample> all_samples;
    for (std::int64_t i = 0; i < n; ++i) all_samples.push_back(load(i));
    drx::compiled<P> program(executor, rank);
    const drx::array<double, 2> start{0, 0};
    const auto w = program(start, drx::place<samples>(rank, n, load));
    const auto expected = drx::interpreter::call<P>(start, all_samples);
    CHECK(w[0] == doctest::Approx(expected[0]).epsilon(1e-12));
    CHECK(w[1] == doctest::Approx(expected[1]).epsilon(1e-12));
  }
}

TEST_CASE("carries that are exchanged in a loop inside of a loop") {
  drx::serial_executor executor;
  drx::single_rank rank;
  using P = drx::program<exchange, drx::array<double, 5>, drx::array<double, 5>>;
  drx::compiled<P> program(executor, rank);
  const drx::array<double, 5> a{1, 2, 3, 4, 5}, b{0.5, -1, 2, 0, 3};
  const auto [x, y, z] = program(a, b);
  const auto [ex, ey, ez] = drx::interpreter::call<P>(a, b);
  for (int i = 0; i < 5; ++i) {
    CHECK(x[i] == ex[i]);
    CHECK(y[i] == ey[i]);
    CHECK(z[i] == ez[i]);
  }
}

TEST_CASE("carries that are exchanged in a loop whose results lie elsewhere") {
  harness::check_run<drx::program<exchange_and_leave, drx::array<double, 5>, drx::array<double, 5>>>({.low = .5}, {1});
}
