// vmap: a batch is its examples one by one: axes of arguments and results, structures, nesting, derivatives, MapReduce.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::axis;
using drx::none;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec3 = array<double, 3>;
using m23 = array<double, 2, 3>;
using m43 = array<double, 4, 3>;

constexpr auto f = [](auto x, auto y) { return drx::tanh(x) * drx::sum(y) + drx::dot(x, y); };
constexpr auto loss = [](auto w, auto x) { return drx::square(drx::dot(drx::sin(w), x) - 1); };
constexpr auto mean = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(w), data));
};
}  // namespace

TEST_CASE("axes of arguments and of the result") {
  constexpr auto g = [](auto x, auto y) {  // x, y: [4, 3]
    const auto a = drx::vmap(f)(x, y);
    const auto row = [=](auto i, auto v) { return drx::index<decltype(i)::value>(v); };
    const auto one = [=](auto i) { return row(i, a) - f(row(i, x), row(i, y)); };
    const auto first = drx::index<0>(y);
    return std::tuple{
        one(std::integral_constant<int, 0>{}),
        one(std::integral_constant<int, 3>{}),
        drx::vmap(f, axis<1>)(drx::transpose(x), drx::transpose(y)) - a,
        drx::vmap(f, axis<-1>, axis<1>)(drx::transpose(x), drx::transpose(y)) - drx::transpose(a),
        drx::vmap(f, std::tuple{axis<0>, none})(x, first) -
            drx::stack(f(drx::index<0>(x), first), f(drx::index<1>(x), first), f(drx::index<2>(x), first),
                       f(drx::index<3>(x), first)),
        drx::vmap([=](auto v) { return f(v, first); })(x) - drx::vmap(f, std::tuple{axis<0>, none})(x, first)};
  };
  harness::check_zero<program<g, m43, m43>>();
}
TEST_CASE("structures, results without the axis, nesting") {
  constexpr auto g = [](auto x, auto w) {
    const auto h = [](auto p, auto s) { return std::pair{p.first * p.second, drx::sum(s)}; };
    const auto [y, s] =
        drx::vmap(h, std::tuple{std::tuple{axis<0>, none}, none}, std::tuple{axis<0>, none})(std::pair{x, w}, w);
    const auto every_pair = drx::vmap([=](auto a) { return drx::vmap([=](auto b) { return drx::dot(a, b); })(x); })(x);
    return std::tuple{y - x * w, s - drx::sum(w), every_pair - drx::matmul(x, drx::transpose(x))};
  };
  harness::check_zero<program<g, m43, vec3>>();
}
TEST_CASE("gradients for each example, and the gradient of a batch") {
  constexpr auto g = [](auto w, auto x) {
    const auto each = drx::vmap(drx::grad(loss), std::tuple{none, axis<0>})(w, x);
    const auto sum = [=](auto v) { return drx::sum(drx::vmap(loss, std::tuple{none, axis<0>})(v, x)); };
    const auto clipped = drx::vmap([=](auto row) { return drx::clamp(drx::grad(loss)(w, row), -0.1, 0.1); })(x);
    return std::tuple{drx::sum<0>(each) - drx::grad(sum)(w), clipped - drx::clamp(each, -0.1, 0.1)};
  };
  harness::check_zero<program<g, vec3, m43>>();
  constexpr auto value = [](auto w, auto x) { return drx::vmap(loss, std::tuple{none, axis<0>})(w, x); };
  harness::check_program<program<value, vec3, m43>>();
}
TEST_CASE("a batch of MapReduce programs, and batches in a map") {
  constexpr auto g = [](auto w, auto data) {  // w: [2, 3]
    const auto both = drx::vmap(mean, std::tuple{axis<0>, none})(w, data);
    const auto slopes = drx::vmap(drx::grad(mean), std::tuple{axis<0>, none})(w, data);
    return std::tuple{both - drx::stack(mean(drx::index<0>(w), data), mean(drx::index<1>(w), data)),
                      drx::index<1>(slopes) - drx::grad(mean)(drx::index<1>(w), data),
                      drx::reduce_sum(drx::map(
                          [=](auto v) { return drx::sum(drx::vmap(loss, std::tuple{axis<0>, none})(w, v)); }, data)) /
                              drx::count<double>(data) -
                          drx::sum(both)};
  };
  harness::check_zero<program<g, m23, placed<vec3, clients>>>();
}
