// Reductions over members: their derivatives with ties, without members, to third order.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;
using drx::tensor;

namespace {
struct clients : drx::placement<clients> {};
using vec2 = array<double, 2>;
template <class T>
using at_clients = placed<T, clients>;

tensor numbers(const std::vector<double>& members) {
  tensor x(drx::abstract_value(drx::dtype::float64, {}).placed_at(&drx::placement_of<clients>));
  for (double e : members) {
    x.members.emplace_back(x.type.of_member());
    x.members.back().data<double>()[0] = e;
  }
  return x;
}
template <class Program>
double tangent(const std::vector<double>& x, const std::vector<double>& v) {
  const std::vector<tensor> out =
      interpreter::run(drx::transform::jvp(Program::tape().thaw(), {true}), {numbers(x), numbers(v)});
  return out[1].data<double>()[0];
}

constexpr auto largest = [](auto x) { return drx::reduce_max(x); };
constexpr auto smallest = [](auto x) { return drx::reduce_min(x); };
using Largest = program<largest, at_clients<double>>;
using Smallest = program<smallest, at_clients<double>>;
}  // namespace

TEST_CASE("members that attain an extremum share its derivative, in both modes") {
  constexpr auto slopes = [](auto x) { return drx::grad(largest)(x); };
  const auto g = interpreter::call<program<slopes, at_clients<double>>>(std::vector{3., 1., 3., 3.});
  CHECK(g == std::vector{1. / 3, 0., 1. / 3, 1. / 3});
  CHECK(tangent<Largest>({3., 1., 3., 3.}, {1., 5., 2., 6.}) == 3);
  CHECK(tangent<Smallest>({3., 1., 3., 1.}, {1., 5., 2., 6.}) == 5.5);
}

TEST_CASE("an extremum of no members is 0, and so are its derivatives") {
  CHECK(tangent<Largest>({}, {}) == 0);
  CHECK(tangent<Smallest>({}, {}) == 0);
  constexpr auto slope = [](auto w, auto x) {
    return drx::grad([](auto v, auto y) {
      return drx::reduce_max(drx::map([](auto a, auto b) { return a * b; }, drx::broadcast<clients>(v), y));
    })(w, x);
  };
  CHECK(interpreter::call<program<slope, double, at_clients<double>>>(2., std::vector<double>{}) == 0);
}

TEST_CASE("derivatives of reductions to third order") {
  constexpr auto f = [](auto w, auto x) {
    const auto y = drx::map([](auto a, auto b) { return drx::sin(a * b) * b; }, drx::broadcast<clients>(w), x);
    return std::tuple{drx::reduce_sum(y), drx::reduce_mean(y), drx::reduce_max(y), drx::reduce_min(y)};
  };
  harness::check_program<program<f, vec2, at_clients<vec2>>>({.orders = 3});
}

TEST_CASE("members that take part: selected by a placed bool") {
  constexpr auto f = [](auto w, auto x, auto takes_part) {
    const auto y = drx::map([](auto a, auto b) { return drx::tanh(a * b); }, drx::broadcast<clients>(w), x);
    const auto weight = drx::map([](auto on) { return drx::cast<double>(on); }, takes_part);
    const auto kept = drx::map([](auto on, auto v) { return drx::where(on, v, drx::zeros<vec2>()); }, takes_part, y);
    return std::tuple{drx::reduce_sum(kept), drx::reduce_weighted_mean(y, weight)};
  };
  using P = program<f, vec2, at_clients<vec2>, at_clients<bool>>;
  harness::check_program<P>();
  const auto [sum, mean] =
      interpreter::call<P>(vec2{1., 2.}, std::vector<vec2>{{1., 1.}, {5., 5.}}, std::vector<bool>{true, false});
  CHECK(sum[0] == std::tanh(1.));
  CHECK(mean[1] == std::tanh(2.));
}
