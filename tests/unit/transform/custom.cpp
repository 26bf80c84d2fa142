// Derivatives that users give: custom_jvp, custom_vjp, custom_root.
#include <drx/drx.hpp>
#include <drx/plan/pipeline.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec3 = array<double, 3>;

constexpr auto softplus =
    drx::custom_jvp([](auto x) { return drx::log1p(drx::exp(x)); }, [](auto x, auto t) { return t * drx::sigmoid(x); });
constexpr auto plain_softplus = [](auto x) { return drx::log1p(drx::exp(x)); };
constexpr auto product = drx::custom_vjp(
    [](auto x, auto y) { return x * y; }, [](auto x, auto y) { return std::pair{x * y, std::tuple{x, y}}; },
    [](auto kept, auto c) { return std::tuple{c * std::get<1>(kept), c * std::get<0>(kept)}; });
constexpr auto tripled = drx::custom_vjp([](auto x) { return x; }, [](auto x) { return std::pair{x, std::tuple{}}; },
                                         [](auto, auto c) { return 3 * c; });
constexpr auto by_descent = [](auto f, auto steps) {  // a root of f, whose slope is about 4
  return [=](auto x) { return drx::fori_loop<decltype(steps)::value>(x, [=](auto v) { return v - 0.25 * f(v); }); };
};
constexpr auto one_unknown = [](auto g, auto r) { return r / g(0 * r + 1); };
// x with x^3 + 4 x = a: dx/da = 1 / (3 x^2 + 4)
constexpr auto cubic = [](auto a) {
  const auto f = [=](auto x) { return x * x * x + 4 * x - a; };
  return drx::custom_root(f, 0 * a, by_descent(f, std::integral_constant<int, 80>{}), one_unknown);
};
}  // namespace

TEST_CASE("custom_jvp serves both modes, any order, batches and maps") {
  constexpr auto f = [](auto x) { return drx::sum(softplus(x) * softplus(drx::sin(x))); };
  harness::check_program<program<f, vec3>>();
  constexpr auto same = [](auto x) {
    const auto sum = [](auto g) { return [=](auto z) { return drx::sum(g(z) * z); }; };
    return std::tuple{drx::grad(sum(softplus))(x) - drx::grad(sum(plain_softplus))(x),
                      drx::hessian(sum(softplus))(x) - drx::hessian(sum(plain_softplus))(x)};
  };
  harness::check_zero<program<same, vec3>>();
  constexpr auto mapped = [](auto x) {
    return drx::reduce_sum(drx::map([](auto v) { return drx::sum(softplus(v)); }, x));
  };
  harness::check_program<program<mapped, placed<vec3, clients>>>();
}

TEST_CASE("custom_vjp: the user's pullback is what reverse mode uses") {
  constexpr auto f = [](auto x, auto y) {
    const auto g = drx::grad<0, 1>([](auto a, auto b) { return drx::sum(product(drx::sin(a), b)); })(x, y);
    return std::tuple{std::get<0>(g) - drx::cos(x) * y, std::get<1>(g) - drx::sin(x),
                      drx::grad([](auto z) { return drx::sum(tripled(z) * z); })(x) - 4 * x,
                      drx::hvp([](auto z) { return drx::sum(product(z, z * z)); }, x, y) - 6 * x * y};
  };
  harness::check_zero<program<f, vec3, vec3>>();
  constexpr auto per_member = [](auto x) {
    return drx::grad([](auto data) {
             return drx::reduce_sum(drx::map([](auto v) { return drx::sum(tripled(v)); }, data));
           })(x) -
           3.0;
  };
  harness::check_zero<program<per_member, placed<vec3, clients>>>();
  constexpr auto forward = [](auto x) { return tripled(x); };
  CHECK_THROWS_WITH(drx::transform::jvp(program<forward, vec3>::tape().thaw(), {true}),
                    doctest::Contains("give it a custom_jvp"));
}

TEST_CASE("custom_root: the derivative of a root is that of the equation") {
  constexpr auto first = [](auto a) {
    const auto x = cubic(a);
    return std::tuple{x * x * x + 4 * x - a, drx::grad(cubic)(a) - 1 / (3 * x * x + 4),
                      drx::jvp(cubic, a, 0 * a + 1).second - 1 / (3 * x * x + 4),
                      drx::grad(drx::grad(cubic))(a) + 6 * x / drx::pow(3 * x * x + 4, 3)};
  };
  harness::check_zero<program<first, double>>();
  harness::check_program<program<cubic, double>>();
  // The minimiser of sum over members of (x - d)^4 + (x - a)^2, as a function of a and of the members' data.
  constexpr auto minimiser = [](auto a, auto data) {
    const auto slope = [=](auto x) {
      const auto loss = [=](auto z) {
        return drx::reduce_mean(drx::map([=](auto d) { return drx::pow(z - d, 4) / 8; }, data)) + drx::square(z - a);
      };
      return drx::grad(loss)(x);
    };
    return drx::custom_root(slope, 0 * a, by_descent(slope, std::integral_constant<int, 90>{}), one_unknown);
  };
  harness::check_program<program<minimiser, double, placed<double, clients>>>({.orders = 1});
}
