#include <doctest/doctest.h>
#include <drx/primitives/catalogue.hpp>
#include <drx/run/check/interpreter.hpp>
#include <drx/transform/grad.hpp>
#include <drx/transform/program.hpp>

#include <string>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct examples : drx::placement<examples> {};
using vec2 = array<double, 2>;

constexpr auto affine = [](auto w, auto x, auto b) { return drx::matmul(w, x) + b; };
constexpr auto sum_of_squares = [](auto x) { return drx::reduce_sum(drx::map([](auto v) { return v * v; }, x)); };

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}
}  // namespace

TEST_CASE("arrays and numbers go in and come out") {
  using P = program<affine, array<float, 2, 3>, array<float, 3>, float>;
  const array<float, 2, 3> w{1.F, 2.F, 3.F, 4.F, 5.F, 6.F};
  const array<float, 3> x{1.F, 0.F, -1.F};
  const array<float, 2> y = interpreter::call<P>(w, x, 10);
  CHECK(y[0] == 8);
  CHECK(y[1] == 8);
}

TEST_CASE("a placed value is a vector of members; of no members the sum is 0") {
  using P = program<sum_of_squares, placed<double, clients>>;
  CHECK(interpreter::call<P>(std::vector{1., 2., 3.}) == 14);
  CHECK(interpreter::call<P>(std::vector<double>{}) == 0);
}

TEST_CASE("placed results, of numbers, bools and tuples") {
  static constexpr auto f = [](auto x) {
    return drx::map([](auto v) { return std::tuple{v > 1, std::pair{v + v, v}}; }, x);
  };
  const auto y = interpreter::call<program<f, placed<double, clients>>>(std::vector{1., 2.});
  REQUIRE(y.size() == 2);
  CHECK(!std::get<0>(y[0]));
  CHECK(std::get<0>(y[1]));
  CHECK(std::get<1>(y[1]).first == 4);

  static constexpr auto g = [](auto x) {
    return std::tuple{drx::map([](auto v) { return v > 1; }, x), drx::reduce_max(x)};
  };
  const auto [above, most] = interpreter::call<program<g, placed<double, clients>>>(std::vector{1., 2.});
  static_assert(std::is_same_v<decltype(above), const std::vector<bool>>);
  CHECK(above == std::vector{false, true});
  CHECK(most == 2);

  static constexpr auto h = [](auto x) { return drx::map([](auto v) { return !v; }, x); };
  CHECK(interpreter::call<program<h, placed<bool, clients>>>(std::vector{true, false}) == std::vector{false, true});
}

TEST_CASE("structures of arrays keep their form") {
  static constexpr auto swap = [](auto p, auto a) { return std::pair{a, std::get<0>(p)}; };
  const auto [a, b] = interpreter::call<program<swap, std::tuple<vec2, float>, std::array<vec2, 2>>>(
      std::tuple{vec2{1., 2.}, 3.F}, std::array{vec2{4., 5.}, vec2{6., 7.}});
  CHECK(a[1][0] == 6);
  CHECK(b[1] == 2);
}

TEST_CASE("nested placements have a count for each parent") {
  static constexpr auto counts = [](auto x) {
    return drx::map(
        [](auto of_client) {
          auto total = drx::reduce_sum(of_client);
          auto mean = drx::reduce_mean(of_client);
          return std::pair{total, mean};
        },
        x);
  };
  const auto y = interpreter::call<program<counts, placed<placed<double, examples>, clients>>>(
      std::vector<std::vector<double>>{{1, 2, 3}, {}, {10}});
  REQUIRE(y.size() == 3);
  CHECK(y[0] == std::pair{6., 2.});
  CHECK(y[1] == std::pair{0., 0.});
  CHECK(y[2] == std::pair{10., 10.});
}

TEST_CASE("a count is known in a region even where no operand tells it") {
  // The mean of examples that are all w: its derivative needs none of the data, yet how many there are.
  static constexpr auto total = [](auto w, auto data) {
    return drx::reduce_sum(drx::map(
        [=](auto of_client) {
          return drx::reduce_sum(
              drx::map([](auto v, auto u) { return v + u; }, drx::broadcast<examples>(w), of_client));
        },
        data));
  };
  static constexpr auto slope = [](auto w, auto data) { return drx::grad(total)(w, data); };
  using P = program<slope, double, placed<placed<double, examples>, clients>>;
  CHECK(interpreter::call<P>(1., std::vector<std::vector<double>>{{1, 2, 3}, {4}}) == 4);
}

TEST_CASE("partition_index counts from 0") {
  static constexpr auto f = [](auto x) {
    return drx::reduce_sum(
        drx::map([](auto v, auto i) { return v * drx::cast<double>(i); }, x, drx::partition_index<clients>()));
  };
  CHECK(interpreter::call<program<f, placed<double, clients>>>(std::vector{5., 6., 7.}) == 20);

  // a map over nothing but the index, in which the values come by capture
  static constexpr auto g = [](auto w) {
    return drx::reduce_sum(
        drx::map([=](auto i) { return w * drx::cast<double>(i) + w; }, drx::partition_index<clients>()));
  };
  CHECK(interpreter::call<program<g, double>>({interpreter::members<clients>(4)}, 3.) == 30);
  static constexpr auto h = [](auto w, auto data) {
    return drx::reduce_sum(drx::map(
        [=](auto of_client) {
          const auto index =
              drx::map([=](auto i) { return w * drx::cast<double>(i); }, drx::partition_index<examples>());
          return drx::reduce_sum(index) + drx::reduce_sum(of_client);
        },
        data));
  };
  CHECK(interpreter::call<program<h, double, placed<placed<double, examples>, clients>>>(
            2., std::vector<std::vector<double>>{{1, 2, 3}, {}, {4}}) == 16);
}

TEST_CASE("loops inside and around maps") {
  static constexpr auto f = [](auto x) {
    return drx::reduce_sum(drx::map([](auto v) { return drx::fori_loop<3>(v, [](auto u) { return u + u; }); }, x));
  };
  CHECK(interpreter::call<program<f, placed<double, clients>>>(std::vector{1., 2.}) == 24);
  static constexpr auto g = [](auto w, auto x) {
    return drx::fori_loop<2>(w,
                             [=](auto u) { return u + drx::reduce_mean(drx::map([=](auto v) { return u * v; }, x)); });
  };
  CHECK(interpreter::call<program<g, double, placed<double, clients>>>(1., std::vector{1., 3.}) == 9);
  // w (1 + mean x)^2, in x: each step's share of the derivative is added up, member by member
  static constexpr auto in_data = [](auto w, auto x) { return drx::grad<1>(g)(w, x); };
  CHECK(interpreter::call<program<in_data, double, placed<double, clients>>>(1., std::vector{1., 3.}) ==
        std::vector{3., 3.});
}

TEST_CASE("the number of members can be given") {
  static constexpr auto f = [](auto x) { return drx::reduce_sum(drx::broadcast<clients>(x)); };
  using P = program<f, double>;
  CHECK(interpreter::call<P>({interpreter::members<clients>(7)}, 2.) == 14);
  CHECK(message([] { interpreter::call<P>(2.); }) ==
        "drx: placement clients: no input is placed there, and the number of its members was not given");
  CHECK(message([] { interpreter::call<P>({interpreter::members<clients>(-1)}, 2.); }) ==
        "drx: placement clients: has -1 members");
}

TEST_CASE("inputs that disagree are refused with the numbers") {
  static constexpr auto f = [](auto x, auto y) { return drx::reduce_sum(x + y); };
  using P = program<f, placed<double, clients>, placed<double, clients>>;
  CHECK(message([] { interpreter::call<P>(std::vector{1., 2., 3.}, std::vector{1., 2.}); }) ==
        "drx: placement clients: input 1 has 2 members, an input before it 3");
  CHECK(message([] { interpreter::call<P>({interpreter::members<clients>(4)}, std::vector{1.}, std::vector{2.}); }) ==
        "drx: placement clients: an input has 1 members, the program or the caller says 4");
  CHECK(message([] { interpreter::run(P::tape().thaw(), {}); }) == "drx: the tape has 2 inputs, given are 0");
  CHECK(message([] { interpreter::run(P::tape().thaw(), {drx::tensor(), drx::tensor()}); }) ==
        "drx: input 0 is to be f64@clients, not f32");

  static constexpr auto g = [](auto x, auto y) {
    return drx::map([](auto a, auto b) { return drx::reduce_sum(a + b); }, x, y);
  };
  using nested = placed<placed<double, examples>, clients>;
  using rows = std::vector<std::vector<double>>;
  CHECK(message([] { interpreter::call<program<g, nested, nested>>(rows{{1}, {2, 3}}, rows{{1}, {2}}); }) ==
        "drx: placement examples: input 1 has 1 members, an input before it 2");
}
