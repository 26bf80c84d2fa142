// jvp, vjp, linearize, linear_transpose, Jacobians and Hessians: what they compute, against each other and against
// differences; auxiliary outputs; nesting.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec2 = array<double, 2>;
using vec3 = array<double, 3>;
using m23 = array<double, 2, 3>;
template <class T>
using at_clients = placed<T, clients>;

template <class Program>
double number(const std::vector<double>& in) {
  harness::tensors x;
  for (double v : in) {
    x.emplace_back(drx::abstract_value(drx::dtype::float64, {}));
    x.back().data<double>()[0] = v;
  }
  const harness::tensors y = drx::interpreter::run(Program::tape().thaw(), x);
  return y[0].data<double>()[0];
}

constexpr auto layer = [](auto m, auto x) { return drx::tanh(drx::matmul(m, x)); };
constexpr auto loss = [](auto m, auto x) { return drx::sum(drx::square(layer(m, x)) * drx::exp(drx::sum(x))); };
constexpr auto of_pair = [](auto x) {
  return std::pair{std::tuple{drx::sin(x.first), drx::argmax<0>(x.first)}, x.second * drx::sum(x.first)};
};
constexpr auto d = [](auto f) { return drx::grad(f); };
constexpr auto over_clients = [](auto w, auto data) {
  return drx::reduce_mean(
      drx::map([](auto v, auto x) { return drx::square(drx::dot(drx::sin(v), x)); }, drx::broadcast<clients>(w), data));
};

// A mean over clients of a path's end and its length, which one number bends; each client starts at whole numbers.
constexpr auto doubled = drx::custom_vjp([](auto x) { return 2. * x; }, [](auto x) { return std::pair{2. * x, x}; },
                                         [](auto, auto ct) { return 2. * ct; });
template <bool Custom>
constexpr auto mean_of_paths = [](auto p, auto starts) {
  auto path = [](auto q, auto start) {
    auto [end, lengths] = drx::scan(
        [=](auto v, auto s) {
          auto bent = drx::sin(q * v) + s;
          if constexpr (Custom) bent = doubled(bent);
          return std::pair{bent, drx::sum(drx::square(bent - v))};
        },
        drx::cast<double>(start), drx::cast<double>(start));
    return std::pair{drx::sum(lengths) * end, drx::argmax<0>(end)};
  };
  auto [ends, last] = drx::map(path, drx::broadcast<clients>(p), starts);
  return drx::sum(drx::reduce_mean(ends));
};
template <bool Custom>
constexpr auto slope_of_paths =
    [](auto p, auto starts) { return drx::value_and_grad<0>(mean_of_paths<Custom>)(p, starts); };
template <auto& F>
using of_paths = program<F, double, at_clients<array<int, 3>>>;
bool runs_backwards(const drx::tape& t) {
  return drx::any_entry(
      t, [](const drx::entry& e) { return e.prim == &drx::prim::scan && drx::prim::rules::scan::view(e).backwards; });
}
}  // namespace

TEST_CASE("forward mode pushes, reverse mode pulls, linearize does what forward mode does") {
  constexpr auto adjoint = [](auto m, auto x, auto tm, auto tx, auto w) {  // <w, J t> - <J' w, t>
    const auto [y, dy] = drx::jvp(layer, m, x, tm, tx);
    const auto [same, pullback] = drx::vjp(layer, m, x);
    const auto [cm, cx] = pullback(w);
    const auto [again, push] = drx::linearize(layer, m, x);
    return std::tuple{y - layer(m, x),   same - y,
                      again - y,         drx::dot(w, dy) - drx::sum(cm * tm) - drx::dot(cx, tx),
                      dy - push(tm, tx), push(2 * tm, 2 * tx) - 2 * dy};
  };
  harness::check_zero<program<adjoint, m23, vec3, m23, vec3, vec2>>();
  constexpr auto derivatives = [](auto m, auto x, auto tm, auto tx) { return drx::jvp(loss, m, x, tm, tx); };
  harness::check_program<program<derivatives, m23, vec3, m23, vec3>>();
}

TEST_CASE("structures, integers among the results, placed values") {
  constexpr auto g = [](auto x, auto t) {
    const auto [y, dy] = drx::jvp(of_pair, x, t);
    const auto [same, pullback] = drx::vjp(of_pair, x);
    const auto c = pullback(y);
    return std::tuple{std::get<0>(dy.first) - drx::cos(x.first) * t.first, drx::cast<double>(std::get<1>(dy.first)),
                      c.second - y.second * drx::sum(x.first)};
  };
  harness::check_zero<program<g, std::pair<vec3, double>, std::pair<vec3, double>>>();
  constexpr auto h = [](auto w, auto data, auto t, auto td) {
    const auto [y, push] = drx::linearize(over_clients, w, data);
    const auto [cw, cd] = drx::vjp(over_clients, w, data).second(drx::ones<array<double>>());
    return std::pair{push(t, td) - drx::jvp(over_clients, w, data, t, td).second,
                     push(t, td) - drx::dot(cw, t) -
                         drx::reduce_sum(drx::map([](auto a, auto b) { return drx::dot(a, b); }, cd, td))};
  };
  harness::check_zero<program<h, vec3, at_clients<vec3>, vec3, at_clients<vec3>>>();
}

TEST_CASE("a linear function is transposed") {
  constexpr auto f = [](auto m, auto c) {
    const auto back = drx::linear_transpose<vec3>([=](auto x) { return drx::matmul(m, x); });
    return back(c) - drx::matmul(c, m);
  };
  harness::check_zero<program<f, m23, vec2>>();
  constexpr auto mean = [](auto m, auto c) {  // of a mean over members: each gets its share
    const auto back = drx::linear_transpose<at_clients<vec3>>([](auto x) { return drx::reduce_mean(2.0 * x); });
    return drx::reduce_sum(back(c)) - 2 * c + 0 * drx::reduce_sum(m);
  };
  harness::check_zero<program<mean, at_clients<vec3>, vec3>>();
}

TEST_CASE("Jacobians and Hessians") {
  constexpr auto f = [](auto m, auto x, auto v, auto w) {
    const auto forward = drx::jacfwd<1>(layer)(m, x);
    const auto reverse = drx::jacrev<1>(layer)(m, x);
    const auto in_m = drx::jacfwd(layer)(m, x);  // [2, 2, 3]
    const auto second = drx::hessian<1>(loss)(m, x);
    const auto of_x = [=](auto z) { return loss(m, z); };
    return std::tuple{
        forward - reverse,
        drx::matmul(forward, v) - drx::jvp(layer, m, x, 0 * m, v).second,
        in_m - drx::jacrev(layer)(m, x),
        drx::matmul(drx::reshape<2, 6>(in_m), drx::reshape<6>(w)) - drx::jvp(layer, m, x, w, 0 * v).second,
        second - drx::transpose(second),
        drx::matmul(second, v) - drx::hvp(of_x, x, v),
        second - drx::jacrev(drx::grad(of_x))(x)};
  };
  harness::check_zero<program<f, m23, vec3, vec3, m23>>();
  constexpr auto placed_data = [](auto w, auto data, auto v) {
    const auto of_w = [=](auto z) { return over_clients(z, data); };
    const auto second = drx::hessian(over_clients)(w, data);
    return std::tuple{drx::matmul(second, v) - drx::hvp(of_w, w, v),
                      drx::jacfwd(over_clients)(w, data) - drx::grad(over_clients)(w, data)};
  };
  harness::check_zero<program<placed_data, vec3, at_clients<vec3>, vec3>>();
  constexpr auto third = [](auto x) {
    return drx::jacfwd(drx::hessian([](auto z) { return drx::sum(drx::sin(z) * z); }))(x);
  };
  harness::check_program<program<third, vec2>>({.orders = 1, .tolerance = 1e-5});
  constexpr auto hessian_of_several = [](auto m, auto x, auto w, auto v) { return drx::hvp(loss, m, x, w, v); };
  harness::check_program<program<hessian_of_several, m23, vec3, m23, vec3>>({.orders = 1, .tolerance = 1e-5});
}

TEST_CASE("auxiliary outputs") {
  constexpr auto f = [](auto x) {
    const auto with_steps = [](auto z) {
      return std::pair{drx::sum(z * z), std::tuple{drx::sin(z), drx::argmax<0>(z)}};
    };
    const auto [value, g] = drx::value_and_grad(with_steps)(x);
    const auto [g2, auxiliary] = drx::grad(with_steps)(x);
    return std::tuple{g - 2 * x, g2 - g, value.first - drx::sum(x * x), std::get<0>(auxiliary) - drx::sin(x),
                      std::get<0>(value.second) - drx::sin(x)};
  };
  harness::check_zero<program<f, vec3>>();
}

TEST_CASE("no perturbation is mistaken for another") {
  constexpr auto siskind = [](auto x) { return d([=](auto y) { return y * d([=](auto z) { return y + z; })(y); })(x); };
  CHECK(number<program<siskind, double>>({1}) == 1);
  constexpr auto forward = [](auto x) {
    const auto one = 0 * x + 1;
    const auto inner = [=](auto y) { return y * drx::jvp([=](auto z) { return y + z; }, y, one).second; };
    return drx::jvp(inner, x, one).second;
  };
  CHECK(number<program<forward, double>>({1}) == 1);
  constexpr auto mixed = [](auto x) {  // d/dx of x times d/dy (x y^2) at y = x: of 2 x^3
    return d([=](auto y) { return y * drx::jvp([=](auto z) { return y * z * z; }, y, 0 * y + 1).second; })(x);
  };
  CHECK(number<program<mixed, double>>({2}) == doctest::Approx(24));
  constexpr auto third = [](auto x) { return d(d(d([](auto z) { return drx::sin(z) * z; })))(x); };
  CHECK(number<program<third, double>>({.7}) == doctest::Approx(-3 * std::sin(.7) - .7 * std::cos(.7)));
  constexpr auto in_loop =
      [](auto x) {  // the derivative of a loop whose body differentiates with respect to another variable
        return d([=](auto z) {
          return drx::fori_loop<3>(z, [=](auto y) { return y * d([=](auto w) { return w * z; })(y); });
        })(x);
      };
  CHECK(number<program<in_loop, double>>({1.5}) == doctest::Approx(4 * 1.5 * 1.5 * 1.5));
}

TEST_CASE("a member's derivative by one number runs through its loop in forward mode") {
  CHECK_FALSE(runs_backwards(of_paths<slope_of_paths<false>>::tape().thaw()));
  CHECK(runs_backwards(of_paths<slope_of_paths<true>>::tape().thaw()));  // a custom_vjp has no forward derivative
  harness::check_program<of_paths<mean_of_paths<false>>>();
  harness::check_program<of_paths<slope_of_paths<false>>>();
  constexpr auto difference = [](auto p, auto starts) {
    const auto along = drx::jvp([=](auto q) { return mean_of_paths<false>(q, starts); }, p, p / p);
    const auto [value, slope] = slope_of_paths<false>(p, starts);
    return std::pair{along.first - value, along.second - slope};
  };
  harness::check_zero<program<difference, double, at_clients<array<int, 3>>>>();
}
