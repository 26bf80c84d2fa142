#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct schools : drx::placement<schools> {};
using vec2 = array<double, 2>;
template <class X, class W>
concept averages = requires(const X& x, const W& w) { drx::reduce_weighted_mean(x, w); };
template <class T>
using at_clients = placed<T, clients>;
using weight = at_clients<array<float>>;
constexpr auto mean = [](auto x, auto w) { return drx::reduce_weighted_mean(x, w); };
}  // namespace

TEST_CASE("which values and weights go together") {
  static_assert(averages<at_clients<vec2>, weight> && averages<at_clients<array<int>>, weight> &&
                averages<at_clients<std::pair<vec2, array<float>>>, weight>);
  static_assert(!averages<vec2, weight> && !averages<at_clients<vec2>, array<float>> &&
                !averages<at_clients<vec2>, placed<array<float>, schools>> &&
                !averages<at_clients<vec2>, at_clients<array<int>>> && !averages<at_clients<vec2>, at_clients<vec2>> &&
                !averages<at_clients<std::pair<vec2, array<int>>>, weight> &&
                !averages<at_clients<placed<vec2, schools>>, weight>);
}

TEST_CASE("weighted means") {
  using P = program<mean, at_clients<vec2>, at_clients<double>>;
  const std::vector<vec2> x{{1., 2.}, {3., 6.}};
  const vec2 y = interpreter::call<P>(x, std::vector{1., 3.});
  CHECK(y[0] == 2.5);
  CHECK(y[1] == 5);
  using Integers = program<mean, at_clients<int>, at_clients<float>>;
  static_assert(std::is_same_v<Integers::result, array<double>>);
  CHECK(interpreter::call<Integers>(std::vector{1, 4}, std::vector{1.f, 1.f}) == 2.5);
}

TEST_CASE("weights that sum to 0 give 0, and derivatives of 0") {
  using P = program<mean, at_clients<vec2>, at_clients<double>>;
  constexpr auto slopes = [](auto x, auto w) {
    return drx::grad<0, 1>([](auto a, auto b) { return drx::sum(mean(a, b)); })(x, w);
  };
  using Slopes = program<slopes, at_clients<vec2>, at_clients<double>>;
  const std::vector<vec2> x{{1., 2.}, {3., 6.}};
  for (const std::vector<double>& w : {std::vector{0., 0.}, std::vector{1., -1.}}) {
    CHECK(interpreter::call<P>(x, w)[0] == 0);
    const auto [dx, dw] = interpreter::call<Slopes>(x, w);
    CHECK(dx[0][0] == 0);
    CHECK(dx[1][1] == 0);
    CHECK(dw[0] == 0);
    CHECK(dw[1] == 0);
  }
  CHECK(interpreter::call<P>(std::vector<vec2>{}, std::vector<double>{})[1] == 0);
}

TEST_CASE("derivatives of weighted means") {
  using structure = std::pair<vec2, array<double>>;
  harness::check_program<program<mean, at_clients<structure>, at_clients<double>>>({.low = .5, .high = 2});
}
