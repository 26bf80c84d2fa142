#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A, int Axis>
concept has_softmax = requires(const A& a) { drx::softmax<Axis>(a); };
}  // namespace

TEST_CASE("log_softmax, softmax and logsumexp do not overflow") {
  static_assert(has_softmax<array<float, 3>, 0> && has_softmax<array<double, 2, 3>, -2>);
  static_assert(!has_softmax<array<int, 3>, 0> && !has_softmax<array<float, 3>, 1> && !has_softmax<array<float>, -1> &&
                !has_softmax<drx::placed<array<float, 3>, clients>, 0>);
  constexpr auto f = [](auto x) { return std::tuple{drx::log_softmax(x), drx::softmax(x), drx::logsumexp(x)}; };
  using P = program<f, array<double, 2, 2>>;
  static_assert(std::is_same_v<P::result, std::tuple<array<double, 2, 2>, array<double, 2, 2>, array<double, 2>>>);
  const auto [logs, shares, total] = interpreter::call<P>(array<double, 2, 2>{1e4, 0., -1e4, -1e4});
  CHECK(logs(0, 0) == 0);
  CHECK(logs(0, 1) == -1e4);
  CHECK(shares(1, 0) == .5);
  CHECK(total(0) == 1e4);
  CHECK(total(1) == doctest::Approx(-1e4 + std::log(2)));
}

TEST_CASE("logsumexp of infinities") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr auto f = [](auto x) { return drx::logsumexp(x); };
  constexpr auto g = [](auto x) { return drx::grad([](auto y) { return drx::sum(drx::logsumexp(y)); })(x); };
  const array<double, 3, 2> x{-inf, -inf, -inf, 1., inf, 0.};
  const auto y = interpreter::call<program<f, array<double, 3, 2>>>(x);
  CHECK(y[0] == -inf);
  CHECK(y[1] == 1);
  CHECK(y[2] == inf);
  const auto slope = interpreter::call<program<g, array<double, 3, 2>>>(x);
  for (const int i : {0, 1, 2}) CHECK(slope[i] == 0);
  CHECK(slope[3] == 1);
}

TEST_CASE("their derivatives") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::log_softmax(x), drx::softmax<0>(x), drx::logsumexp<1>(x), drx::logsumexp<0>(x)};
  };
  harness::check_program<program<f, array<double, 3, 4>>>({.low = -3, .high = 3});
  constexpr auto vector = [](auto x) { return drx::log_softmax(x); };
  harness::check_program<program<vector, array<double, 1>>>();
}
