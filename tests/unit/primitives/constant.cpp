#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
constexpr array<float, 3> weights{.25f, .5f, -.25f};
}  // namespace

TEST_CASE("elements known at compile time") {
  constexpr auto f = [](auto x) {
    constexpr array<bool, 3> mask{true, false, true};
    constexpr array<float, 3> alike{2.f, 2.f, 2.f};
    return drx::where(drx::constant(mask), x * drx::constant(weights), drx::constant(alike));
  };
  using P = program<f, array<float, 3>>;
  CHECK(drx::show<P>() == R"((%0: f32[3]) {
  %1: f32[3] = data[0.25, 0.5, -0.25]
  %2: f32[3] = mul %0, %1
  %3: bool[3] = data[1, 0, 1]
  %4: f32[3] = constant[2]
  %5: f32[3] = where %3, %2, %4
  return %5
}
)");
  const array<float, 3> y = interpreter::call<P>(array<float, 3>{4.f, 4.f, 4.f});
  CHECK(y[0] == 1);
  CHECK(y[1] == 2);
  CHECK(y[2] == -1);
}

TEST_CASE("elements keep all their bits") {
  constexpr auto f = [](auto n, auto x) {
    constexpr array<std::int64_t, 2> large{std::int64_t{9007199254740993}, std::int64_t{9007199254740993}};
    constexpr array<double, 2> small{1e-320, -0.0};
    return std::pair{n + drx::constant(large), x * drx::constant(small)};
  };
  using P = program<f, std::int64_t, double>;
  const auto [n, x] = interpreter::call<P>(std::int64_t{0}, 1.);
  CHECK(n[1] == 9007199254740993);
  CHECK(x[0] == 1e-320);
  CHECK(std::signbit(x[1]));
}

TEST_CASE("constants in maps, derivatives and batches") {
  constexpr auto f = [](auto x) {
    return drx::reduce_sum(drx::map(
        [](auto v) {
          constexpr array<double, 2, 2> m{1., 2., 3., 4.};
          return drx::square(drx::matmul(drx::constant(m), v)) * drx::iota<array<double, 2>>();
        },
        x));
  };
  harness::check_program<program<f, drx::placed<array<double, 2>, clients>>>();
}

TEST_CASE("what is computed of constants only is written where it is used") {
  constexpr auto f = [](auto x) {
    const auto unit = drx::one_hot<double, 3>(drx::iota<array<int, 3>>());
    const auto lower =
        drx::where(drx::iota<array<int, 3, 3>>() < drx::iota<array<int, 3, 3>, 1>(), 0, unit + drx::exp(-unit));
    const auto twice = drx::fori_loop<2>(x, [=](auto v) { return drx::matmul(lower, drx::sin(v)); });
    return std::tuple{drx::matmul(unit, x), twice, lower};
  };
  harness::check_program<program<f, array<double, 3>>>();
  const auto [same, twice, lower] = interpreter::call<program<f, array<double, 3>>>(array<double, 3>{1., 2., 3.});
  CHECK((same[0] == 1 && same[1] == 2 && same[2] == 3));
  CHECK((lower(0, 0) == doctest::Approx(1 + std::exp(-1)) && lower(0, 1) == 0 && lower(1, 0) == 1));
}

TEST_CASE("a program without inputs") {
  constexpr auto f = [] {
    const auto key = drx::random_key(42);
    const auto steps = drx::fori_loop<3>(drx::ones<array<double>>(), [](auto v) { return v / 2; });
    const auto slope = drx::grad([](auto v) { return drx::dot(v, v); })(drx::iota<array<double, 3>>());
    const auto rows = drx::vmap([](auto v) { return drx::sum(v); })(drx::ones<array<double, 2, 3>>());
    return std::tuple{steps, slope, drx::uniform<double, 2>(key), rows};
  };
  const auto [steps, slope, draws, rows] = interpreter::call<program<f>>();
  CHECK(steps == .125);
  CHECK((slope[0] == 0 && slope[2] == 4));
  CHECK((draws[0] > 0 && draws[0] < 1 && draws[0] != draws[1]));
  CHECK(rows[1] == 3);
}

TEST_CASE("a reduction of constants is written around the loops that use it, and in the map that does") {
  constexpr auto f = [](auto x, auto y) {
    const auto half = drx::ones<array<double>>() / 2;
    const auto total =
        drx::reduce_sum(drx::map([=](auto i) { return drx::cast<double>(i) * half; }, drx::partition_index<clients>()));
    const auto steps = drx::fori_loop<3>(x, [=](auto v) { return v * total; });
    return steps + drx::reduce_sum(drx::map([=](auto v) { return v * total; }, y));
  };
  using P = program<f, double, drx::placed<double, clients>>;
  CHECK(interpreter::call<P>(2., std::vector<double>{1., 2., 3.}) == doctest::Approx(2 * 3.375 + 9));
  const std::string text = drx::show<P>();
  CHECK(text.find("reduce_sum") < text.find("scan"));
}

TEST_CASE("a loop over constants is written once, however often it is used") {
  constexpr auto f = [](auto x) {
    const auto steps = drx::fori_loop<3>(drx::ones<array<double>>(), [](auto v) { return drx::sin(v) + v; });
    const auto twice = steps * 2;
    const auto other = drx::exp(drx::ones<array<double>>() + 1);
    return std::tuple{x * steps + drx::cos(x) * twice, drx::fori_loop<2>(x, [=](auto v) { return v * steps; }),
                      (other + steps) * x, steps - other};
  };
  using P = program<f, double>;
  const std::string text = drx::show<P>();
  CHECK(text.find("scan[3") != std::string::npos);
  CHECK(text.find("scan[3") == text.rfind("scan[3"));
  double steps = 1;
  for (int i = 0; i < 3; ++i) steps += std::sin(steps);
  const auto [sum, power, product, difference] = interpreter::call<P>(2.);
  CHECK(sum == doctest::Approx(2 * steps + std::cos(2.) * 2 * steps));
  CHECK(power == doctest::Approx(2 * steps * steps));
  CHECK(product == doctest::Approx((std::exp(2.) + steps) * 2));
  CHECK(difference == doctest::Approx(steps - std::exp(2.)));
}

TEST_CASE(
    "maps and loops over constants in each other: which of two values is the inner one's does not depend on their order") {
  constexpr auto of_pairs = [](auto x) {
    const auto pairs = drx::reduce_sum(drx::map(
        [](auto i) {
          return drx::reduce_sum(drx::map([=](auto j) { return drx::cast<double>(i * j) + drx::cast<double>(j * i); },
                                          drx::partition_index<rows>()));
        },
        drx::partition_index<clients>()));
    return pairs + drx::reduce_sum(drx::map([](auto c) { return drx::reduce_sum(c); }, x));
  };
  using P = program<of_pairs, drx::placed<drx::placed<double, rows>, clients>>;
  CHECK(interpreter::call<P>(std::vector<std::vector<double>>{{1., 2.}, {3., 4., 5.}}) == 15 + 2 * 3);

  static constexpr auto loops = [](auto x) {
    const auto number = [](auto i) { return drx::cast<double>(i); };
    const auto zero = drx::zeros<array<double>>();
    const auto sum = drx::fori_loop<3>(zero, [=](auto i, auto s) {
      const auto rows = drx::vmap([=](auto v) { return drx::sum(v * number(i)); })(drx::ones<array<double, 2, 3>>());
      const auto slope = drx::grad([=](auto v) { return number(i) * v * v; })(zero + 1);
      return s + drx::fori_loop<2>(zero, [=](auto j, auto r) {
               const auto both = i * j;
               const auto first = drx::fori_loop<2>(zero, [=](auto k, auto q) { return q + number(i) * number(k); });
               const auto all = drx::fori_loop<2>(zero, [=](auto k, auto q) {
                 return q + number(j * k) * x + number(both) + number((k + i) * (j + 1));
               });
               return r + number(both) + first + all + drx::index<0>(rows) + slope;
             });
    });
    return x + sum;
  };
  double expected = 2, slope = 1;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) {
      expected += i * j + 3 * i + 2 * i;
      for (int k = 0; k < 2; ++k) expected += i * k + j * k * 2 + i * j + (k + i) * (j + 1), slope += j * k;
    }
  constexpr auto with_slope = [](auto x) { return drx::value_and_grad(loops)(x); };
  const auto [value, derivative] = interpreter::call<program<with_slope, double>>(2.);
  CHECK(value == doctest::Approx(expected));
  CHECK(derivative == doctest::Approx(slope));
}

TEST_CASE("a loop over constants in a branch and in a loop of another one") {
  constexpr auto f = [](auto x) {
    const auto one = drx::ones<array<double>>();
    return drx::fori_loop<2>(one, [=](auto i, auto s) {
      const auto sum = [=](auto v) {
        return v * drx::fori_loop<2>(one, [=](auto j, auto q) { return q + drx::cast<double>(i + j); });
      };
      const auto product = drx::fori_loop<2>(s, [=](auto k, auto u) {
        return u + drx::fori_loop<2>(one, [=](auto j, auto q) { return q + drx::cast<double>(k * i + j); });
      });
      return product + drx::cond(i > 0, sum, [=](auto v) { return v * drx::cast<double>(i); }, x);
    });
  };
  CHECK(interpreter::call<program<f, double>>(3.) == 1 + (2 + 2) + (2 + 4) + 3 * 4);
}

TEST_CASE("arrays with elements are constants") {
  constexpr auto f = [](auto x) {
    array<float, 3> unit;
    unit[1] = 1;
    const auto [sum, twice] = drx::fori_loop<2>(std::pair{x, array<float, 3>{1.f, 1.f, 1.f}},
                                                [=](auto c) { return std::pair{c.first + unit, c.second * 2}; });
    return std::tuple{x * weights, sum, twice, weights};
  };
  using P = program<f, array<float, 3>>;
  const auto [product, sum, twice, same] = interpreter::call<P>(array<float, 3>{4.f, 4.f, 4.f});
  CHECK((product[0] == 1 && product[1] == 2 && product[2] == -1));
  CHECK((sum[0] == 4 && sum[1] == 6));
  CHECK((twice[2] == 4 && same[1] == .5f));
}
