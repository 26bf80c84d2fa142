// The code of docs/derivatives.md, compiled and run: derivatives of MapReduce programs in all modes.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {

// cut-begin fit
struct rows : drx::placement<rows> {};
using row = std::tuple<drx::array<double, 4>, double>;

constexpr auto error = [](auto w, auto r) {  // of one row: logistic loss, labels -1 and 1
  auto [x, y] = r;
  return drx::log1p(drx::exp(-y * drx::dot(w, x)));
};
constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(w), data)) + 0.01 * drx::dot(w, w);
};
// cut-end fit

// cut-begin modes
constexpr auto modes = [](auto w, auto t, auto data) {
  auto of_w = [=](auto v) { return loss(v, data); };        // what is not differentiated is captured
  auto [value, slope] = drx::jvp(of_w, w, t);               // forward: the derivative along t
  auto [same, pullback] = drx::vjp(of_w, w);                // reverse: from a cotangent of the loss to one of w
  auto [again, push] = drx::linearize(drx::grad(of_w), w);  // linear in the tangent: the Hessian, here
  return std::tuple{value, slope, pullback(slope), push(t)};
};
// cut-end modes

// cut-begin hessian
constexpr auto hessians = [](auto w, auto t, auto data) {
  auto of_w = [=](auto v) { return loss(v, data); };
  auto product = drx::hvp(of_w, w, t);  // H t, without H: two passes over the data
  auto whole = drx::hessian(of_w)(w);   // H, a 4 by 4 array
  auto residuals = drx::jacrev([](auto v) { return drx::tanh(v); })(w);
  return std::tuple{product, whole, residuals};
};
// cut-end hessian

// cut-begin newton
constexpr auto newton_step = [](auto w, auto data) {  // conjugate gradients on H p = -g: one message per product
  auto linear = drx::linearize(drx::grad([=](auto v) { return loss(v, data); }), w);
  auto g = linear.first;
  auto product = linear.second;            // the Hessian, as a function
  auto start = std::tuple{0 * w, -g, -g};  // p, residual, direction
  auto [solution, rest, last] = drx::fori_loop<4>(start, [=](auto c) {
    auto [p, r, d] = c;
    auto hd = product(d);
    auto rate = drx::dot(r, r) / drx::dot(d, hd);
    auto next = r - rate * hd;
    return std::tuple{p + rate * d, next, next + drx::dot(next, next) / drx::dot(r, r) * d};
  });
  return w + solution;
};
// cut-end newton

// cut-begin auxiliary
constexpr auto with_predictions = [](auto w, auto data) {
  auto scores = drx::map([=](auto r) { return drx::dot(w, std::get<0>(r)); }, data);
  return std::pair{loss(w, data), scores};  // the number to differentiate, and what else it brings
};
constexpr auto step = [](auto w, auto data) {
  auto [result, g] = drx::value_and_grad(with_predictions)(w, data);
  auto [value, scores] = result;
  return std::tuple{w - 0.1 * g, value, scores};
};
// cut-end auxiliary

// cut-begin custom
constexpr auto softplus =
    drx::custom_jvp([](auto x) { return drx::log1p(drx::exp(x)); }, [](auto x, auto t) { return t * drx::sigmoid(x); });
constexpr auto clipped = drx::custom_vjp([](auto x) { return x; },                           // f
                                         [](auto x) { return std::pair{x, std::tuple{}}; },  // f and what to keep
                                         [](auto, auto c) { return drx::clamp(c, -0.1, 0.1); });
constexpr auto robust = [](auto w, auto data) {
  auto of_row = [](auto v, auto r) { return softplus(-std::get<1>(r) * drx::dot(clipped(v), std::get<0>(r))); };
  return drx::grad([=](auto v) { return drx::reduce_mean(drx::map(of_row, drx::broadcast<rows>(v), data)); })(w);
};
// cut-end custom

// cut-begin root
constexpr auto trained = [](auto penalty, auto data) {  // the w that minimises the loss, as a function of the penalty
  auto slope = [=](auto w) { return drx::grad([=](auto v) { return loss(v, data) + penalty * drx::dot(v, v); })(w); };
  auto solve = [=](auto w) { return drx::fori_loop<200>(w, [=](auto v) { return v - 1.5 * slope(v); }); };
  auto solve_linear = [](auto product, auto r) {  // product(v) = r, by steps of descent
    return drx::fori_loop<200>(r, [=](auto v) { return v - 1.5 * (product(v) - r); });
  };
  return drx::custom_root(slope, drx::zeros<drx::array<double, 4>>(), solve, solve_linear);
};
constexpr auto slope_of_penalty = [](auto penalty, auto data, auto held_out) {
  return drx::value_and_grad([=](auto p) { return loss(trained(p, data), held_out); })(penalty);
};
// cut-end root

using w4 = drx::array<double, 4>;
using data = drx::placed<row, rows>;
template <auto F, class... X>
void check() {
  harness::check_run<drx::program<F, X...>>({.low = .2}, {5, 1, 40});
}
}  // namespace

TEST_CASE("modes") { check<modes, w4, w4, data>(); }
TEST_CASE("Hessians") { check<hessians, w4, w4, data>(); }
TEST_CASE("a step of Newton's method is the solution of the Hessian") { check<newton_step, w4, data>(); }
TEST_CASE("auxiliary outputs") { check<step, w4, data>(); }
TEST_CASE("custom derivatives") { check<robust, w4, data>(); }
TEST_CASE("the derivative of a minimiser in a parameter is that of differences") {
  using P = drx::program<slope_of_penalty, double, data, data>;
  harness::tensors in = harness::random_inputs<P>({.members = 20});
  const auto at = [&](double penalty) {
    in[0].data<double>()[0] = penalty;
    return harness::run_serial<P>(in);
  };
  const auto y = at(.3), above = at(.3 + 1e-4), below = at(.3 - 1e-4);
  harness::check_near(y, harness::run_plain<P>((in[0].data<double>()[0] = .3, in)));
  const double difference = (above[0].data<double>()[0] - below[0].data<double>()[0]) / 2e-4;
  CHECK(y[1].data<double>()[0] == doctest::Approx(difference).epsilon(1e-6));
}
