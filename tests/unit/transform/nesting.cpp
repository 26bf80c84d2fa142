// Derivatives of derivatives of derivatives, inside and around maps and loops, in mixed modes.
#include <drx/drx.hpp>
#include <drx/run/check/check_grads.hpp>

#include <doctest/doctest.h>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};

constexpr auto slope = [](auto f) { return drx::grad(f); };
constexpr auto push = [](auto f) { return [=](auto x) { return drx::jvp(f, x, drx::ones<decltype(x)>()).second; }; };

constexpr auto fourth_power = [](auto x) { return x * x * x * x; };
constexpr auto loop = [](auto x) { return drx::fori_loop<3>(x, [](auto v) { return v * v; }); };  // x^8
constexpr double x0 = 1.25;

template <auto F>
double at(double x) {
  return interpreter::call<program<F, double>>(x);
}
}  // namespace

TEST_CASE("third derivatives in all modes") {
  CHECK(at<[](auto x) { return slope(slope(slope(fourth_power)))(x); }>(x0) == doctest::Approx(24 * x0));
  CHECK(at<[](auto x) { return push(slope(push(fourth_power)))(x); }>(x0) == doctest::Approx(24 * x0));
  CHECK(at<[](auto x) { return slope(push(slope(fourth_power)))(x); }>(x0) == doctest::Approx(24 * x0));
  CHECK(at<[](auto x) { return push(push(push(fourth_power)))(x); }>(x0) == doctest::Approx(24 * x0));
}

TEST_CASE("third derivatives of a loop, and of each step of one") {
  const double expected = 8 * 7 * 6 * std::pow(x0, 5);
  CHECK(at<[](auto x) { return slope(slope(slope(loop)))(x); }>(x0) == doctest::Approx(expected));
  CHECK(at<[](auto x) { return push(slope(push(loop)))(x); }>(x0) == doctest::Approx(expected));
  CHECK(at<[](auto x) { return slope(push(slope(loop)))(x); }>(x0) == doctest::Approx(expected));
  // v -> v + (v^4)'''/24 = 2 v, twice
  CHECK(at<[](auto x) {
          return drx::fori_loop<2>(x, [](auto v) { return v + slope(push(slope(fourth_power)))(v) / 24; });
        }>(x0) == doctest::Approx(4 * x0));
}

TEST_CASE("third derivatives inside and around maps") {
  const std::vector<double> x{.5, 1., 1.5};
  static constexpr auto within = [](auto v) {
    return drx::map([](auto m) { return slope(slope(slope(loop)))(m); }, v);
  };
  const auto each = interpreter::call<program<within, placed<double, clients>>>(x);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(each[i] == doctest::Approx(336 * std::pow(x[i], 5)));
  static constexpr auto around = [](auto w, auto v) {
    const auto sum = [&](auto u) {
      return drx::reduce_sum(
          drx::map([](auto a, auto b) { return fourth_power(a) * b; }, drx::broadcast<clients>(u), v));
    };
    return std::pair{slope(slope(slope(sum)))(w), push(slope(push(sum)))(w)};
  };
  const auto [reverse, mixed] = interpreter::call<program<around, double, placed<double, clients>>>(x0, x);
  CHECK(reverse == doctest::Approx(24 * x0 * 3));
  CHECK(mixed == doctest::Approx(24 * x0 * 3));
}

TEST_CASE("a derivative in a map in a loop in a derivative, against differences to third order") {
  static constexpr auto f = [](auto w, auto data) {
    return drx::fori_loop<2>(w, [&](auto v) {
      const auto slopes = drx::map([](auto a, auto b) { return slope([=](auto u) { return drx::sin(u * b); })(a); },
                                   drx::broadcast<clients>(v), data);
      return v - drx::reduce_mean(slopes) / 4;
    });
  };
  const auto report = drx::check_grads<program<f, double, placed<double, clients>>>(.7, {.3, 1.1, -.4}, {.order = 3});
  CHECK_MESSAGE(report.ok(), report.text());
  CHECK(report.unclear == 0);
}
