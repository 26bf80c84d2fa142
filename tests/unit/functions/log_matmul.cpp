#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

#include "harness/derivatives.hpp"
#include "harness/run.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct chains : drx::placement<chains> {};
template <class A, class B>
concept has_log_matmul = requires(const A& a, const B& b) { drx::log_matmul(a, b); };

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr auto f = [](auto a, auto b) { return drx::log_matmul(a, b); };
constexpr auto slopes = [](auto a, auto b) {  // of the sum of the results that are finite
  return drx::grad<0, 1>([](auto p, auto q) {
    auto c = drx::log_matmul(p, q);
    return drx::sum(drx::where(drx::isfinite(c), c, 0));
  })(a, b);
};
constexpr auto all_slopes = [](auto a, auto b) {
  return drx::grad<0, 1>([](auto p, auto q) { return drx::sum(drx::log_matmul(p, q)); })(a, b);
};

/// log(sum over l of exp(a_il + b_lj)), by a plain loop.
template <class A, class B>
double sum_of(const A& a, const B& b, int i, int j, int inner) {
  double total = 0;
  for (int l = 0; l < inner; ++l) total += std::exp(static_cast<double>(a(i, l)) + static_cast<double>(b(l, j)));
  return std::log(total);
}

// The forward recursion of a chain of labels.
constexpr auto chain = [](auto follows, auto scores) {
  auto step = [=](auto logs, auto own) { return std::pair{drx::log_matmul(logs, follows) + own, std::tuple{}}; };
  return drx::logsumexp(drx::scan(step, drx::index<0>(scores), drx::slice<1, 7>(scores)).first);
};
constexpr auto chain_by_logsumexp = [](auto follows, auto scores) {
  auto step = [=](auto logs, auto own) {
    return std::pair{drx::logsumexp<0>(drx::expand_dims<1>(logs) + follows) + own, std::tuple{}};
  };
  return drx::logsumexp(drx::scan(step, drx::index<0>(scores), drx::slice<1, 7>(scores)).first);
};
constexpr auto fitted = [](auto follows, auto data) {
  return drx::reduce_mean(drx::map(chain, drx::broadcast<chains>(follows), data));
};
using Fitted = program<drx::value_and_grad(fitted), array<double, 5, 5>, drx::placed<array<double, 7, 5>, chains>>;
}  // namespace

TEST_CASE("log_matmul has matmul's shapes") {
  static_assert(!has_log_matmul<array<int, 2, 3>, array<int, 3, 2>>);
  static_assert(!has_log_matmul<array<float, 2, 3>, array<float, 2, 3>>);
  static_assert(!has_log_matmul<array<float, 2, 3>, array<double, 3, 2>>);
  static_assert(!has_log_matmul<array<float, 3>, array<float>>);
  static_assert(!has_log_matmul<drx::placed<array<float, 3>, chains>, array<float, 3>>);
  static_assert(std::is_same_v<program<f, array<double, 3>, array<double, 3>>::result, array<double>>);
  static_assert(std::is_same_v<program<f, array<double, 3>, array<double, 3, 2>>::result, array<double, 2>>);
  static_assert(std::is_same_v<program<f, array<double, 4, 3>, array<double, 3>>::result, array<double, 4>>);
  static_assert(std::is_same_v<program<f, array<float, 5, 4, 3>, array<float, 3, 2>>::result, array<float, 5, 4, 2>>);
  static_assert(std::is_same_v<program<f, array<double, 3>, array<double, 5, 3, 2>>::result, array<double, 5, 2>>);
  static_assert(
      std::is_same_v<program<f, array<drx::bfloat16, 4, 3>, array<drx::bfloat16, 3>>::result, array<drx::bfloat16, 4>>);
}

TEST_CASE("log_matmul computes what plain loops do") {
  const array<double, 2, 3> a{.5, -1., 2., -300., -301., -299.};
  const array<double, 3, 2> b{1., 400., -2., 401., 0., 399.5};
  const auto c = interpreter::call<program<f, array<double, 2, 3>, array<double, 3, 2>>>(a, b);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) CHECK(c(i, j) == doctest::Approx(sum_of(a, b, i, j, 3)));
  // Numbers whose exponentials overflow, and vanish, though their sums do not.
  const auto far = interpreter::call<program<f, array<double, 2>, array<double, 2>>>(array<double, 2>{-5000., -5001.},
                                                                                     array<double, 2>{6000., 6001.});
  CHECK(far == doctest::Approx(1000 + std::log(2)));
  // Vectors and batches.
  const auto row =
      interpreter::call<program<f, array<double, 3>, array<double, 3, 2>>>(array<double, 3>{.5, -1., 2.}, b);
  const auto column =
      interpreter::call<program<f, array<double, 2, 3>, array<double, 3>>>(a, array<double, 3>{1., -2., 0.});
  for (int j : {0, 1}) {
    CHECK(row(j) == doctest::Approx(c(0, j)));
    CHECK(column(j) == doctest::Approx(c(j, 0)));
  }
  const auto batch = interpreter::call<program<f, array<double, 2, 1, 3>, array<double, 3, 2>>>(
      array<double, 2, 1, 3>{.5, -1., 2., -300., -301., -299.}, b);
  for (int i = 0; i < 4; ++i) CHECK(batch[i] == doctest::Approx(c[i]));
  // No term at all.
  CHECK(interpreter::call<program<f, array<double, 0>, array<double, 0>>>(array<double, 0>{}, array<double, 0>{}) ==
        -inf);
}

TEST_CASE("log_matmul of halves is rounded once") {
  using H = drx::bfloat16;
  const array<H, 2> a{H(1.f), H(.5f)}, b{H(.25f), H(3.f)};
  const float exact = std::log(std::exp(1.25f) + std::exp(3.5f));
  CHECK(interpreter::call<program<f, array<H, 2>, array<H, 2>>>(a, b) == H(exact));
}

TEST_CASE("log_matmul of infinities") {
  // The first row of a, and the second column of b, are forbidden.
  const array<double, 2, 2> a{-inf, -inf, 1., -inf};
  const array<double, 2, 3> b{0., -inf, -inf, 2., -inf, 1.};
  const auto c = interpreter::call<program<f, array<double, 2, 2>, array<double, 2, 3>>>(a, b);
  for (int j = 0; j < 3; ++j) CHECK(c(0, j) == -inf);
  CHECK(c(1, 0) == 1);
  CHECK(c(1, 1) == -inf);
  CHECK(c(1, 2) == -inf);  // each term has a factor that is forbidden
  for (const bool finite_only : {true, false}) {
    const auto [of_a, of_b] =
        finite_only ? interpreter::call<program<slopes, array<double, 2, 2>, array<double, 2, 3>>>(a, b)
                    : interpreter::call<program<all_slopes, array<double, 2, 2>, array<double, 2, 3>>>(a, b);
    for (int i = 0; i < 4; ++i) CHECK(of_a[i] == (i == 2 ? 1 : 0));
    for (int i = 0; i < 6; ++i) CHECK(of_b[i] == (i == 0 ? 1 : 0));
  }
  const auto nan = interpreter::call<program<f, array<double, 2>, array<double, 2>>>(
      array<double, 2>{std::numeric_limits<double>::quiet_NaN(), 1.}, array<double, 2>{0., 0.});
  CHECK(std::isnan(nan));
}

TEST_CASE("what is far below the largest is lost, with derivatives 0") {
  for (const double gap : {700., 720., 740., 800.}) {  // the smallest normal number is exp(-708.4)
    const array<double, 2> a{0., -gap}, b{-inf, 3.};
    const auto c = interpreter::call<program<f, array<double, 2>, array<double, 2>>>(a, b);
    const auto [of_a, of_b] = interpreter::call<program<all_slopes, array<double, 2>, array<double, 2>>>(a, b);
    if (gap == 700) {
      CHECK(c == doctest::Approx(3 - gap));
      CHECK(of_a[1] == doctest::Approx(1));
      CHECK(of_b[1] == doctest::Approx(1));
    } else {
      CHECK(c == -inf);
      CHECK(of_a[1] == 0);
      CHECK(of_b[1] == 0);
    }
    CHECK(of_a[0] == 0);
    CHECK(of_b[0] == 0);
  }
}

TEST_CASE("its derivatives") {
  harness::check_program<program<f, array<double, 4, 3>, array<double, 3, 2>>>({.low = -3, .high = 3});
  harness::check_program<program<f, array<double, 3>, array<double, 3, 2>>>();
  harness::check_program<program<f, array<double, 4, 3>, array<double, 3>>>();
  harness::check_program<program<f, array<double, 2, 4, 3>, array<double, 2, 3, 2>>>();
}

TEST_CASE("a loop computes the exponentials of what it does not change once") {
  using Chain = program<chain, array<double, 5, 5>, array<double, 7, 5>>;
  const std::string plan = drx::plan::show<Chain>();
  const auto loop = plan.find("scan"), exponential = plan.find("f64[5,5] = exp");
  INFO(plan);
  REQUIRE(loop != std::string::npos);
  REQUIRE(exponential != std::string::npos);
  CHECK(exponential < loop);
  CHECK(plan.find("f64[5,5] = exp", exponential + 1) == std::string::npos);
}

TEST_CASE("chains, compiled") {
  harness::check_run<Fitted>({}, {1, 5, 45});
  constexpr auto difference = [](auto follows, auto scores) {
    auto gradients = [=](auto g) { return drx::grad<0, 1>(g)(follows, scores); };
    return std::pair{chain(follows, scores) - chain_by_logsumexp(follows, scores),
                     gradients(chain) - gradients(chain_by_logsumexp)};
  };
  harness::check_zero<program<difference, array<double, 5, 5>, array<double, 7, 5>>>();
}
