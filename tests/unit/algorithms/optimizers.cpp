// Optimizers beside the formulas of their papers, written out in plain C++; schedules; clipping.
#include <drx/algorithms.hpp>

#include "harness/derivatives.hpp"

#include <array>
#include <cmath>
#include <functional>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
using params = std::pair<array<double, 2>, drx::scalar<double>>;
constexpr int steps = 300;

/// The slope of a quadratic bowl whose axes differ, and which moves a little.
constexpr auto slope = [](auto x) {
  return std::pair{drx::array<double, 2>{1., 10.} * (x.first - 1), drx::cos(x.second)};
};
template <auto O>
constexpr auto descend = [](auto x, auto state) {
  return drx::fori_loop<steps>(std::pair{x, state}, [](auto c) {
    auto [now, s] = c;
    return drx::step(O, now, s, slope(now), 0.01);
  });
};

using numbers = std::array<double, 3>;
/// One number's next value: of its value, slope, two memories and the step's number.
using formula = double(double x, double g, double& m, double& v, double t);

template <auto O>
void check_against(formula f, double begin = 0) {
  using S = drx::optimizer_state<std::remove_cvref_t<decltype(O)>, params>;
  S state{};
  if constexpr (std::is_same_v<S, std::tuple<params, params, drx::scalar<double>>>) {
    std::get<1>(state) = {{begin, begin}, begin};
  } else if constexpr (std::is_same_v<S, params>) {
    state = {{begin, begin}, begin};
  }
  const auto [x, ended] = interpreter::call<program<descend<O>, params, S>>(params{{3., -2.}, 0.3}, state);
  numbers y{3, -2, 0.3}, m{}, v{begin, begin, begin};
  for (int t = 1; t <= steps; ++t) {
    const numbers g{y[0] - 1, 10 * (y[1] - 1), std::cos(y[2])};
    for (std::size_t i = 0; i < 3; ++i) y[i] = f(y[i], g[i], m[i], v[i], t);
  }
  CHECK(x.first[0] == doctest::Approx(y[0]).epsilon(1e-11));
  CHECK(x.first[1] == doctest::Approx(y[1]).epsilon(1e-11));
  CHECK(double(x.second) == doctest::Approx(y[2]).epsilon(1e-11));
}

double adaptive(double x, double g, double& m, double v, double t, double e, double decay) {
  m = 0.9 * m + 0.1 * g;
  return x - 0.01 * (m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(0.999, t))) + e) + decay * x);
}
}  // namespace

TEST_CASE("logarithms of coefficients are those of the standard library") {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    const double expected = std::log(x);
    CHECK(std::abs(drx::detail::constant_log(x) - expected) <= 2.3e-16 * std::abs(expected));
  }
  static_assert(drx::detail::constant_log(1) == 0 && drx::detail::constant_log(0) < -1e300);
  CHECK(std::isnan(drx::detail::constant_log(-1)));
}

TEST_CASE("hundreds of steps by each optimizer, beside its formula") {
  check_against<drx::sgd{}>([](double x, double g, double&, double&, double) { return x - 0.01 * g; });
  check_against<drx::momentum{0.9}>([](double x, double g, double& m, double&, double) {
    m = 0.9 * m + g;
    return x - 0.01 * m;
  });
  check_against<drx::nesterov{0.9}>([](double x, double g, double& m, double&, double) {
    m = 0.9 * m + g;
    return x - 0.01 * (g + 0.9 * m);
  });
  check_against<drx::adam{}>([](double x, double g, double& m, double& v, double t) {
    v = 0.999 * v + 0.001 * g * g;
    return adaptive(x, g, m, v, t, 1e-8, 0);
  });
  check_against<drx::adamw{.decay = 0.1}>([](double x, double g, double& m, double& v, double t) {
    v = 0.999 * v + 0.001 * g * g;
    return adaptive(x, g, m, v, t, 1e-8, 0.1);
  });
  check_against<drx::fedadam{}>([](double x, double g, double& m, double& v, double) {
    m = 0.9 * m + 0.1 * g;
    v = 0.99 * v + 0.01 * g * g;
    return x - 0.01 * m / (std::sqrt(v) + 1e-3);
  });
  check_against<drx::yogi{}>(
      [](double x, double g, double& m, double& v, double t) {
        const double h = g * g;
        v -= 0.001 * (v > h ? 1 : v < h ? -1 : 0) * h;
        return adaptive(x, g, m, v, t, 1e-3, 0);
      },
      1e-6);
  check_against<drx::adagrad{}>(
      [](double x, double g, double&, double& v, double) {
        v += g * g;
        return x - 0.01 * g / std::sqrt(v + 1e-7);
      },
      0.1);
}

TEST_CASE("steps are differentiable in parameters, state, gradient and rate") {
  constexpr auto adamw = [](auto x, auto s, auto g, auto rate) { return drx::step(drx::adamw{}, x, s, g, rate); };
  using S = drx::optimizer_state<drx::adamw, params>;
  harness::check_program<program<adamw, params, S, params, double>>({.low = 0.5, .high = 1.5, .tolerance = 1e-5});
  constexpr auto nesterov = [](auto x, auto s, auto g, auto rate, auto decay) {
    return drx::step(drx::nesterov{decay}, x, s, g, rate);
  };
  harness::check_program<program<nesterov, params, params, params, double, double>>();
}

TEST_CASE("schedules") {
  constexpr auto f = [](auto t) {
    return std::tuple{drx::constant_schedule{0.3}(t), drx::linear_schedule{1, 0.2, 10}(t),
                      drx::exponential_decay{2, 0.5, 10}(t), drx::warmup_cosine_decay{1, 5, 25, 0.1}(t)};
  };
  for (double t : {0., 1., 5., 10., 15., 25., 40.}) {
    CAPTURE(t);
    const auto [constant, linear, exponential, cosine] = interpreter::call<program<f, double>>(t);
    CHECK(double(constant) == 0.3);
    CHECK(double(linear) == doctest::Approx(t < 10 ? 1 - 0.08 * t : 0.2));
    CHECK(double(exponential) == doctest::Approx(2 * std::pow(0.5, t / 10)));
    const double part = std::min((t - 5) / 20, 1.);
    CHECK(double(cosine) == doctest::Approx(t < 5 ? t / 5 : 0.1 + 0.9 * 0.5 * (1 + std::cos(M_PI * part))));
  }
}

TEST_CASE("clipping to a norm") {
  constexpr auto f = [](auto x) { return drx::clip_by_global_norm(x, 2.5); };
  using P = program<f, params>;
  const params large = interpreter::call<P>(params{{3., 0.}, 4.}), small = interpreter::call<P>(params{{1., 0.}, 2.});
  CHECK(large.first[0] == doctest::Approx(1.5));
  CHECK(double(large.second) == doctest::Approx(2));
  CHECK(small.first[0] == 1);
  CHECK(double(small.second) == 2);
  harness::check_program<P>({.low = 2, .high = 3});
  harness::check_program<P>({.low = -0.5, .high = 0.5});
  constexpr auto slope_at = drx::grad([](auto x) { return drx::sum(drx::clip_by_global_norm(x, 2.5)); });
  CHECK(interpreter::call<program<slope_at, params>>(params{}).second == 1);
}
