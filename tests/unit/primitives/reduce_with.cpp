#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::monoid;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec2 = array<double, 2>;
template <class T>
using at_clients = placed<T, clients>;
template <class M, class X>
concept reduces = requires(const M& m, const X& x) { drx::reduce_with(m, x); };

constexpr auto times = [](auto a, auto b) { return a * b; };
constexpr monoid product{times, 1};
constexpr monoid differentiable{times, 1, [](auto x, auto y, auto ct) { return ct * y / x; }};
constexpr monoid from_half{times, 1.5};
constexpr monoid last_of_two{[](auto, auto b) { return b; }, [] { return drx::zeros<array<double>>(); }};
constexpr monoid into_a_sum{[](auto a, auto b) { return drx::sum(a * b); }, 1};

// Two matrices multiplied do not commute: the order of the members counts.
using m22 = array<double, 2, 2>;
constexpr m22 one{1., 0., 0., 1.};
constexpr auto identity_matrix = [] { return drx::constant(one); };
// Mean and variance in one pass, by Chan's rule.
using moments = std::tuple<array<double>, array<double>, array<double>>;  // number, mean, sum of squared differences
constexpr auto chan = [](auto a, auto b) {
  const auto& [n, mean, m2] = a;
  const auto& [k, other, o2] = b;
  const auto all = n + k;
  const auto delta = other - mean;
  const auto share = k / drx::max(all, 1);
  return std::tuple{all, mean + delta * share, m2 + o2 + delta * delta * n * share};
};
}  // namespace

TEST_CASE("which members a monoid reduces") {
  using product_t = std::remove_const_t<decltype(product)>;
  static_assert(reduces<product_t, at_clients<vec2>> && reduces<product_t, at_clients<array<int>>> &&
                reduces<product_t, at_clients<std::pair<vec2, array<int>>>>);
  static_assert(!reduces<product_t, vec2> && !reduces<product_t, at_clients<placed<vec2, clients>>>);
  static_assert(!reduces<std::remove_const_t<decltype(from_half)>, at_clients<array<int>>>);
  static_assert(reduces<std::remove_const_t<decltype(last_of_two)>, at_clients<array<double>>> &&
                !reduces<std::remove_const_t<decltype(last_of_two)>, at_clients<vec2>>);
  static_assert(!reduces<std::remove_const_t<decltype(into_a_sum)>, at_clients<vec2>>);
  static_assert(!reduces<std::remove_const_t<decltype(differentiable)>, at_clients<array<int>>>);
}

TEST_CASE("products of members") {
  constexpr auto f = [](auto x) { return drx::reduce_with(product, x); };
  using P = program<f, at_clients<std::pair<int, vec2>>>;
  CHECK(drx::show<P>() == R"((%0: i32@clients, %1: f64[2]@clients) {
  %2: i32, %3: f64[2] = reduce_with[clients] %0, %1 (%0: i32, %1: f64[2], %2: i32, %3: f64[2]) {
    %4: i32 = mul %0, %2
    %5: f64[2] = mul %1, %3
    return %4, %5
  } () {
    %0: i32 = constant[1]
    %1: f64[2] = constant[1]
    return %0, %1
  }
  return %2, %3
}
)");
  const auto [n, v] = interpreter::call<P>(std::vector<std::pair<int, vec2>>{{2, {1., 2.}}, {3, {4., 5.}}});
  CHECK(n == 6);
  CHECK(v[1] == 10);
  CHECK(interpreter::call<P>(std::vector<std::pair<int, vec2>>{}).first == 1);
}

TEST_CASE("members are combined in their order") {
  constexpr auto f = [](auto x) {
    return drx::reduce_with(monoid{[](auto a, auto b) { return drx::matmul(a, b); }, identity_matrix}, x);
  };
  const auto y = interpreter::call<program<f, at_clients<m22>>>(std::vector<m22>{{1., 1., 0., 1.}, {1., 0., 1., 1.}});
  CHECK(y(0, 0) == 2);
  CHECK(y(1, 1) == 1);
}

TEST_CASE("mean and variance as a monoid") {
  constexpr auto f = [](auto x) {
    const auto each = drx::map([](auto v) { return std::tuple{drx::ones<array<double>>() + 0 * v, v, 0 * v}; }, x);
    return drx::reduce_with(monoid{chan, 0}, each);
  };
  using P = program<f, at_clients<double>>;
  static_assert(std::is_same_v<P::result, moments>);
  const auto [n, mean, m2] = interpreter::call<P>(std::vector{1., 2., 3., 10.});
  CHECK(n == 4);
  CHECK(mean == doctest::Approx(4));
  CHECK(m2 == doctest::Approx(50));
  // Forward derivatives follow from combine.
  const drx::tape moved = drx::transform::jvp(P::tape().thaw(), {true});
  drx::tensor x(moved.values[moved.inputs[0]]), v = x;
  for (double e : {1., 2., 3., 10.}) {
    x.members.emplace_back(x.type.of_member());
    v.members.emplace_back(x.type.of_member());
    x.members.back().data<double>()[0] = e;
    v.members.back().data<double>()[0] = e == 10 ? 1 : 0;
  }
  const auto out = interpreter::run(moved, {x, v});
  CHECK(out[4].data<double>()[0] == doctest::Approx(.25));
  CHECK(out[5].data<double>()[0] == doctest::Approx(12));  // d/dx4 of the sum of squared differences: 2 (x4 - mean)
}

TEST_CASE("derivatives of a monoid with a pull") {
  constexpr auto f = [](auto x) { return drx::reduce_with(differentiable, x); };
  harness::check_program<program<f, at_clients<vec2>>>(
      {.low = .5, .high = 2, .orders = 3});  // of a pair of modes of any order
}

TEST_CASE("derivatives of a monoid of structures with a pull") {
  constexpr auto f = [](auto x) {
    const auto pairs = drx::map([](auto v) { return std::pair{v, drx::exp(v)}; }, x);
    return drx::reduce_with(
        drx::monoid{[](auto a, auto b) { return std::pair{a.first + b.first, a.second * b.second}; },
                    [] { return std::pair{drx::zeros<vec2>(), drx::ones<vec2>()}; },
                    [](auto v, auto y, auto ct) { return std::pair{ct.first, ct.second * y.second / v.second}; }},
        pairs);
  };
  harness::check_program<program<f, at_clients<vec2>>>({.orders = 2});
}

TEST_CASE("without a pull there is no reverse derivative, and it says so") {
  constexpr auto f = [](auto x) { return drx::reduce_with(product, x); };
  const drx::tape t = program<f, at_clients<double>>::tape().thaw();
  CHECK_THROWS_WITH(drx::transform::pullback(t, {true}, {true}), doctest::Contains("no reverse derivative"));
}
