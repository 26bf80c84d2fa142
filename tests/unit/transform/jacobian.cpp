// Jacobians and Hessians of structures: their types, both modes against each other, against jvp and against
// differences.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::program;

namespace {
using vec2 = array<double, 2>;
using vec3 = array<double, 3>;
using m23 = array<double, 2, 3>;
using layer = std::pair<m23, vec2>;

constexpr auto outputs = [](auto l, auto x) {
  auto [w, b] = l;
  const auto y = drx::tanh(drx::matmul(w, x) + b);
  return std::tuple{y, drx::dot(y, b), std::array{y * drx::sum(x), y - b}};
};
constexpr auto loss = [](auto l, auto x) {
  auto [w, b] = l;
  return drx::sum(drx::square(drx::sin(drx::matmul(w, x)) + b)) + drx::sum(w) * drx::dot(b, b);
};

constexpr auto times = [](auto j, auto t) {  // of a result of shape [2]
  auto [in_w, in_b] = j;
  auto [w, b] = t;
  return drx::matmul(drx::reshape<2, 6>(in_w), drx::reshape<6>(w)) + drx::matmul(in_b, b);
};

template <class P, class R>
constexpr bool returns = std::is_same_v<typename P::result, R>;
}  // namespace

TEST_CASE("each array of the result becomes a value of the argument") {
  constexpr auto jacobian = [](auto l, auto x) { return drx::jacfwd(outputs)(l, x); };
  using in_layer = std::pair<array<double, 2, 2, 3>, array<double, 2, 2>>;
  static_assert(returns<program<jacobian, layer, vec3>, std::tuple<in_layer, layer, std::array<in_layer, 2>>>);
  constexpr auto in_x = [](auto l, auto x) { return drx::jacrev<1>(outputs)(l, x); };
  static_assert(returns<program<in_x, layer, vec3>, std::tuple<m23, vec3, std::array<m23, 2>>>);
  constexpr auto in_both = [](auto l, auto x) { return drx::jacrev<1, 0>(outputs)(l, x); };
  static_assert(returns<program<in_both, layer, vec3>, std::tuple<std::tuple<m23, in_layer>, std::tuple<vec3, layer>,
                                                                  std::array<std::tuple<m23, in_layer>, 2>>>);
  constexpr auto hessian = [](auto l, auto x) { return drx::hessian(loss)(l, x); };
  static_assert(
      returns<program<hessian, layer, vec3>, std::pair<std::pair<array<double, 2, 3, 2, 3>, array<double, 2, 3, 2>>,
                                                       std::pair<array<double, 2, 2, 3>, array<double, 2, 2>>>>);
}

TEST_CASE("columns, rows and directional derivatives agree") {
  constexpr auto modes = [](auto l, auto x) {
    return std::tuple{drx::jacfwd(outputs)(l, x) - drx::jacrev(outputs)(l, x),
                      drx::jacfwd<1, 0>(outputs)(l, x) - drx::jacrev<1, 0>(outputs)(l, x)};
  };
  harness::check_zero<program<modes, layer, vec3>>();
  constexpr auto along = [](auto l, auto x, auto t) {
    const auto j = drx::jacfwd(outputs)(l, x);
    const auto of_l = [=](auto z) { return outputs(z, x); };
    const auto d = drx::jvp(of_l, l, t).second;
    return std::tuple{times(std::get<0>(j), t) - std::get<0>(d), times(std::get<2>(j)[0], t) - std::get<2>(d)[0],
                      times(std::get<2>(j)[1], t) - std::get<2>(d)[1]};
  };
  harness::check_zero<program<along, layer, vec3, layer>>();
  constexpr auto product = [](auto l, auto x, auto t) {
    const auto of_l = [=](auto z) { return loss(z, x); };
    const auto [in_w, in_b] = drx::hessian(of_l)(l);
    const auto [w, b] = drx::hvp(of_l, l, t);
    const auto [tw, tb] = t;
    const auto hw = drx::matmul(drx::reshape<6, 6>(in_w.first), drx::reshape<6>(tw)) +
                    drx::matmul(drx::reshape<6, 2>(in_w.second), tb);
    return std::tuple{drx::reshape<2, 3>(hw) - w, times(in_b, t) - b};
  };
  harness::check_zero<program<product, layer, vec3, layer>>();
  constexpr auto again = [](auto l, auto x) { return drx::jacfwd(loss)(l, x) - drx::grad(loss)(l, x); };
  harness::check_zero<program<again, layer, vec3>>();
}

TEST_CASE("a Hessian of structures has derivatives") {
  constexpr auto hessian = [](auto a, auto b) {
    return drx::hessian<0, 1>([](auto x, auto y) { return drx::dot(drx::sin(x), x) * y; })(a, b);
  };
  static_assert(returns<program<hessian, vec2, double>,
                        std::tuple<std::tuple<array<double, 2, 2>, vec2>, std::tuple<vec2, array<double>>>>);
  harness::check_program<program<hessian, vec2, double>>({.orders = 1, .tolerance = 1e-5});
}
