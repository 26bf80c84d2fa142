// What DrJAX computes, computed by drx: DrJAX 0.2.1's own test values, those of its tutorial, and values computed with
// it in float64. The programs run on the plain interpreter.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <initializer_list>
#include <numeric>
#include <string_view>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;
using drx::tape;
using drx::tensor;

namespace {
struct clients : drx::placement<clients> {};
using vec1 = array<double, 1>;
using vec2 = array<double, 2>;
template <class T>
using at_clients = placed<T, clients>;

doctest::Approx approx(double x) { return doctest::Approx(x).epsilon(1e-7); }

template <class A>
void check(const A& got, std::initializer_list<double> expected) {
  REQUIRE(static_cast<std::size_t>(A::size) == expected.size());
  std::int64_t i = 0;
  for (double x : expected) CHECK(got[i++] == approx(x));
}
void check(const std::vector<vec2>& got, std::initializer_list<vec2> expected) {
  REQUIRE(got.size() == expected.size());
  std::size_t i = 0;
  for (const vec2& x : expected) check(got[i++], {x[0], x[1]});
}

/// Entries whose name begins so, those of regions included.
int count(const tape& t, std::string_view name) {
  int n = 0;
  for (const drx::entry& e : t.entries) {
    n += std::string_view(e.prim->name).substr(0, name.size()) == name;
    for (const tape& r : e.regions) n += count(r, name);
  }
  return n;
}

/// The derivatives of a program of one input and one output: a MapReduce program again.
template <class P>
tape forward() {
  return drx::transform::jvp(P::tape().thaw(), {true});
}
template <class P>
tape reverse() {
  return drx::transform::vjp(P::tape().thaw(), {true}, {true}, false);
}

/// The directional derivative at x along dx; the cotangent of the input for that of the output.
template <class P, class X, class DX>
auto along(const X& x, const DX& dx, const interpreter::member_counts& given = {}) {
  using input = std::tuple_element_t<0, typename P::inputs>;
  std::vector<tensor> in = interpreter::to_tensors<input>(x);
  in.push_back(interpreter::to_tensors<input>(dx)[0]);
  return interpreter::from_tensors<typename P::result>({interpreter::run(forward<P>(), in, given)[1]});
}
template <class P, class X, class CT>
auto back(const X& x, const CT& ct, const interpreter::member_counts& given = {}) {
  using input = std::tuple_element_t<0, typename P::inputs>;
  std::vector<tensor> in = interpreter::to_tensors<input>(x);
  in.push_back(interpreter::to_tensors<typename P::result>(ct)[0]);
  return interpreter::from_tensors<drx::canonical_t<input>>(interpreter::run(reverse<P>(), in, given));
}

const interpreter::member_counts hundred{interpreter::members<clients>(100)};
constexpr auto to_all = [](auto x) { return drx::broadcast<clients>(x); };
constexpr auto total = [](auto x) { return drx::reduce_sum(x); };
constexpr auto average = [](auto x) { return drx::reduce_mean(x); };
using broadcast_p = program<to_all, double>;
using sum_p = program<total, at_clients<vec1>>;
using mean_p = program<average, at_clients<vec1>>;
}  // namespace

TEST_CASE("U1: a number broadcast to 100 members; both Jacobians are ones") {
  const std::vector<double> ones(100, 1.);
  CHECK(interpreter::call<broadcast_p>(hundred, 1.) == ones);
  CHECK(along<broadcast_p>(1., 1., hundred) == ones);
  for (std::size_t i : {0U, 42U, 99U}) {
    std::vector<double> ct(100, 0.);
    ct[i] = 1;
    CHECK(back<broadcast_p>(1., ct) == 1);
  }
}

TEST_CASE("U2, U4: the sum and the mean over 100 members, and their Jacobians") {
  vec1 one;
  one[0] = 1;
  const std::vector<vec1> ones(100, one);
  check(interpreter::call<sum_p>(ones), {100});
  check(interpreter::call<mean_p>(ones), {1});
  for (std::size_t i : {0U, 42U, 99U}) {
    std::vector<vec1> unit(100);
    unit[i][0] = 1;
    check(along<sum_p>(ones, unit), {1});
    check(along<mean_p>(ones, unit), {0.01});
  }
  for (const vec1& ct : back<sum_p>(ones, one)) check(ct, {1});
  for (const vec1& ct : back<mean_p>(ones, one)) check(ct, {0.01});
}

TEST_CASE("U3, U5: the sum and the mean of a broadcast") {
  static constexpr auto sum_all = [](auto x) { return drx::reduce_sum(drx::broadcast<clients>(x)); };
  static constexpr auto mean_all = [](auto x) { return drx::reduce_mean(drx::broadcast<clients>(x)); };
  using sums = program<sum_all, vec1>;
  using means = program<mean_all, vec1>;
  vec1 one;
  one[0] = 1;
  check(along<sums>(one, one, hundred), {100});
  check(back<sums>(one, one, hundred), {100});
  check(along<means>(one, one, hundred), {1});
  check(back<means>(one, one, hundred), {1});
}

TEST_CASE("U6: the part of the members above a threshold") {
  static constexpr auto part = [](auto threshold, auto x) {
    return drx::reduce_mean(
        drx::map([](auto v, auto t) { return drx::cast<double>(v > t); }, x, drx::broadcast<clients>(threshold)));
  };
  using P = program<part, double, at_clients<double>>;
  std::vector<double> hundred_values(100), twenty(20);
  std::iota(hundred_values.begin(), hundred_values.end(), 0);
  std::iota(twenty.begin(), twenty.end(), 0);
  CHECK(interpreter::call<P>(24., hundred_values) == 0.75);
  CHECK(interpreter::call<P>(3., twenty) == 0.8);
  CHECK(interpreter::call<P>(49.5, hundred_values) == 0.5);  // their median
}

TEST_CASE("derivatives are made of the same few operations") {  // U8
  CHECK(count(forward<broadcast_p>(), "broadcast") >= 1);
  CHECK(count(forward<broadcast_p>(), "reduce") == 0);
  CHECK(count(reverse<broadcast_p>(), "reduce_sum") == 1);
  CHECK(count(reverse<broadcast_p>(), "broadcast") == 0);
  CHECK(count(forward<sum_p>(), "reduce_sum") >= 1);
  CHECK(count(reverse<sum_p>(), "broadcast") >= 1);
  CHECK(count(reverse<sum_p>(), "reduce") == 0);
  CHECK(count(forward<mean_p>(), "reduce_mean") >= 1);
  CHECK(count(reverse<mean_p>(), "broadcast") >= 1);
  CHECK(count(reverse<mean_p>(), "reduce") == 0);
}

TEST_CASE("the gradient of a broadcast, a map and a mean has one reduction per leaf") {
  static constexpr auto residual = [](auto w, auto b, auto x) { return drx::sum(drx::exp(w * x + b)); };
  static constexpr auto loss = [](auto w, auto b, auto xs) {
    return drx::reduce_mean(drx::map(residual, drx::broadcast<clients>(w), drx::broadcast<clients>(b), xs));
  };
  static constexpr auto slope = [](auto w, auto b, auto xs) { return drx::grad<0, 1>(loss)(w, b, xs); };
  static constexpr auto both = [](auto w, auto b, auto xs) { return drx::value_and_grad<0, 1>(loss)(w, b, xs); };
  const auto t = program<slope, vec2, double, at_clients<vec2>>::tape().thaw();
  CHECK(count(t, "reduce") == 2);
  const auto u = program<both, vec2, double, at_clients<vec2>>::tape().thaw();
  CHECK(count(u, "reduce") == 3);
}

namespace {
constexpr auto half_square = [](auto x, auto y) {
  const auto r = drx::sum(x * y) - 1.;
  return 0.5 * (r * r);
};
constexpr auto mean_loss = [](auto x, auto ys) {
  return drx::reduce_mean(drx::map(half_square, drx::broadcast<clients>(x), ys));
};
constexpr auto slope = [](auto x, auto ys) { return drx::grad(mean_loss)(x, ys); };
using mean_loss_p = program<mean_loss, vec2, at_clients<vec2>>;
using slope_p = program<slope, vec2, at_clients<vec2>>;
const vec2 x0{2., -1.};
const std::vector<vec2> ys{{1., 2.}, {3., -4.}, {-7., 6.}};
}  // namespace

TEST_CASE("N1: a map over three members") {
  static constexpr auto shifted = [](auto x, auto y) {
    return drx::map([](auto a, auto b) { return a + b; }, x, drx::broadcast<clients>(y));
  };
  check(interpreter::call<program<shifted, at_clients<vec2>, vec2>>(std::vector<vec2>{{1., 2.}, {3., 4.}, {5., 6.}},
                                                                    vec2{1., 2.}),
        {{2., 4.}, {4., 6.}, {6., 8.}});
}

TEST_CASE("N2, N3: a broadcast to three members, and its sum") {
  const interpreter::member_counts three{interpreter::members<clients>(3)};
  check(interpreter::call<program<to_all, vec2>>(three, vec2{-1., 1.}), {{-1., 1.}, {-1., 1.}, {-1., 1.}});
  static constexpr auto sum_all = [](auto x) { return drx::reduce_sum(drx::broadcast<clients>(x)); };
  static constexpr auto its_slope = [](auto x) { return drx::grad(sum_all)(x); };
  CHECK(interpreter::call<program<sum_all, double>>(three, 2.) == 6);
  CHECK(interpreter::call<program<its_slope, double>>(three, 2.) == 3);
}

TEST_CASE("N4, N5: a mean loss, its gradient, and a step down it") {
  CHECK(interpreter::call<mean_loss_p>(x0, ys) == approx(87.1666667));
  check(interpreter::call<slope_p>(x0, ys), {57.6666667, -54.6666667});
  static constexpr auto stepped = [](auto x, auto data) { return x - 0.01 * slope(x, data); };
  const vec2 x1 = interpreter::call<program<stepped, vec2, at_clients<vec2>>>(x0, ys);
  check(x1, {1.4233333, -0.4533333});
  CHECK(interpreter::call<mean_loss_p>(x1, ys) == approx(35.55125));
}

TEST_CASE("R1: its Hessian, by reverse over reverse and by forward over reverse") {
  static constexpr auto slope_along = [](auto x, auto v, auto data) { return drx::sum(slope(x, data) * v); };
  static constexpr auto curvature = [](auto x, auto v, auto data) { return drx::grad(slope_along)(x, v, data); };
  using P = program<curvature, vec2, vec2, at_clients<vec2>>;
  check(interpreter::call<P>(x0, vec2{1., 0.}, ys), {19.6666667, -17.3333333});
  check(interpreter::call<P>(x0, vec2{0., 1.}, ys), {-17.3333333, 18.6666667});

  const tape t = drx::transform::jvp(slope_p::tape().thaw(), {true, false});
  const auto run = [&](vec2 v) {
    return interpreter::from_tensors<vec2>(
        {interpreter::run(t, {interpreter::to_tensors<vec2>(x0)[0], interpreter::to_tensors<at_clients<vec2>>(ys)[0],
                              interpreter::to_tensors<vec2>(v)[0]})[1]});
  };
  check(run({1., 0.}), {19.6666667, -17.3333333});
  check(run({0., 1.}), {-17.3333333, 18.6666667});
}

TEST_CASE("R2: a directional derivative, and the gradient in the placed argument") {
  const tape t = drx::transform::jvp(mean_loss_p::tape().thaw(), {true, false});
  const auto out =
      interpreter::run(t, {interpreter::to_tensors<vec2>(x0)[0], interpreter::to_tensors<at_clients<vec2>>(ys)[0],
                           interpreter::to_tensors<vec2>(vec2{1., 1.})[0]});
  CHECK(interpreter::from_tensors<double>({out[1]}) == approx(3.0));
  static constexpr auto in_data = [](auto x, auto data) { return drx::grad<1>(mean_loss)(x, data); };
  check(interpreter::call<program<in_data, vec2, at_clients<vec2>>>(x0, ys),
        {{-0.6666667, 0.3333333}, {6., -3.}, {-14., 7.}});
}

TEST_CASE("R3: the sum of doubled broadcasts") {
  static constexpr auto f = [](auto x) {
    return drx::reduce_sum(drx::map([](auto a) { return 2. * a; }, drx::broadcast<clients>(x)));
  };
  static constexpr auto df = [](auto x) { return drx::grad(f)(x); };
  const interpreter::member_counts three{interpreter::members<clients>(3)};
  CHECK(interpreter::call<program<f, double>>(three, 2.) == 12);
  CHECK(interpreter::call<program<df, double>>(three, 2.) == 6);
}

TEST_CASE("R4: derivatives to the third order") {
  static constexpr auto f = [](auto x) {
    return drx::reduce_mean(drx::map([](auto a) { return a * a * a; }, drx::broadcast<clients>(x)));
  };
  static constexpr auto f1 = [](auto x) { return drx::grad(f)(x); };
  static constexpr auto f2 = [](auto x) { return drx::grad(f1)(x); };
  static constexpr auto f3 = [](auto x) { return drx::grad(f2)(x); };
  const interpreter::member_counts five{interpreter::members<clients>(5)};
  CHECK(interpreter::call<program<f, double>>(five, 2.) == approx(8));
  CHECK(interpreter::call<program<f1, double>>(five, 2.) == approx(12));
  CHECK(interpreter::call<program<f2, double>>(five, 2.) == approx(12));
  CHECK(interpreter::call<program<f3, double>>(five, 2.) == approx(6));
}

namespace {
constexpr auto weighted = [](auto x, auto w) { return drx::reduce_weighted_mean(x, w); };
constexpr auto in_weights = [](auto x, auto w) { return drx::grad<1>(weighted)(x, w); };
using numbers = std::vector<double>;
using weighted_p = program<weighted, at_clients<double>, at_clients<double>>;
const numbers values{1, 2, 6}, weights{1, 1, 2};

void check(const numbers& got, const numbers& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == approx(expected[i]));
}
}  // namespace

TEST_CASE("R5: a weighted mean and its derivatives") {
  CHECK(interpreter::call<weighted_p>(values, weights) == 3.75);
  static constexpr auto slopes = [](auto x, auto w) { return drx::grad<0, 1>(weighted)(x, w); };
  const auto [dx, dw] = interpreter::call<program<slopes, at_clients<double>, at_clients<double>>>(values, weights);
  check(dx, numbers{.25, .25, .5});
  check(dw, numbers{-.6875, -.4375, .5625});
  const auto tensor_of = [](const numbers& x) { return interpreter::to_tensors<at_clients<double>>(x)[0]; };
  const auto out =
      interpreter::run(drx::transform::jvp(weighted_p::tape().thaw(), {true, true}),
                       {tensor_of(values), tensor_of(weights), tensor_of({1, 0, 0}), tensor_of({0, 1, 0})});
  CHECK(interpreter::from_tensors<double>({out[1]}) == approx(-0.1875));
}

TEST_CASE("R6: its Hessian in the weights") {
  static constexpr auto slope_along = [](auto w, auto v, auto x) { return drx::reduce_sum(in_weights(x, w) * v); };
  static constexpr auto curvature = [](auto w, auto v, auto x) { return drx::grad(slope_along)(w, v, x); };
  using P = program<curvature, at_clients<double>, at_clients<double>, at_clients<double>>;
  check(interpreter::call<P>(weights, numbers{1, 0, 0}, values), numbers{.34375, .28125, .03125});
  check(interpreter::call<P>(weights, numbers{0, 1, 0}, values), numbers{.28125, .21875, -.03125});
  check(interpreter::call<P>(weights, numbers{0, 0, 1}, values), numbers{.03125, -.03125, -.28125});
}

TEST_CASE("R7, R8: weighted means of arrays and of integers; without any weight 0, where DrJAX has NaN") {
  check(interpreter::call<program<weighted, at_clients<vec2>, at_clients<double>>>(
            std::vector<vec2>{{1., 2.}, {3., 4.}, {5., 6.}}, weights),
        {3.5, 4.5});
  CHECK(interpreter::call<program<weighted, at_clients<int>, at_clients<double>>>(std::vector{1, 2, 6}, weights) ==
        3.75);
  const numbers none(3, 0.);
  CHECK(interpreter::call<weighted_p>(values, none) == 0);
  check(interpreter::call<program<in_weights, at_clients<double>, at_clients<double>>>(values, none), none);
}

TEST_CASE("a weighted mean of a model needs one reduction per leaf and one for the weights, and its gradient as many") {
  static constexpr auto tuple_mean = [](auto w, auto b, auto x, auto n) {
    const auto local = [](auto u, auto c, auto y) { return std::pair{u * y, c + y}; };
    const auto [u, c] =
        drx::reduce_weighted_mean(drx::map(local, drx::broadcast<clients>(w), drx::broadcast<clients>(b), x), n);
    return drx::sum(u) + c;
  };
  static constexpr auto its_slope = [](auto w, auto b, auto x, auto n) {
    return drx::grad<0, 1>(tuple_mean)(w, b, x, n);
  };
  CHECK(count(program<tuple_mean, vec2, double, at_clients<double>, at_clients<double>>::tape().thaw(), "reduce") == 3);
  CHECK(count(program<its_slope, vec2, double, at_clients<double>, at_clients<double>>::tape().thaw(), "reduce") == 3);
}
