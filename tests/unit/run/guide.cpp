// The programs of docs/guide.md and docs/sharp_bits.md, cut from here, and what they compute.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/ext/eigen.hpp>
#include <drx/ext/hana.hpp>
#include <drx/run/check/interpreter.hpp>

#include <vector>

namespace {
// cut-begin placements
struct clients : drx::placement<clients> {};

constexpr auto average_of_squares = [](auto x) {             // x: one array<float, 3> per client
  auto squares = drx::map([](auto v) { return v * v; }, x);  // still one per client
  return drx::reduce_mean(squares);                          // one array<float, 3>
};
using AverageOfSquares = drx::program<average_of_squares, drx::placed<drx::array<float, 3>, clients>>;
// cut-end placements

// cut-begin model
struct model {
  drx::array<float, 4, 2> w;
  drx::array<float, 2> b;
  drx::scalar<float> scale;  // a member that is one number
};
// cut-end model
}  // namespace
// cut-begin adapt
BOOST_HANA_ADAPT_STRUCT(model, w, b, scale);
// cut-end adapt

namespace {
// cut-begin predict
constexpr auto predict = [](auto m, auto x) { return m.scale * (drx::matmul(x, m.w) + m.b); };
constexpr auto error_of_row = [](auto m, auto row) {
  auto [x, y] = row;  // a std::tuple under trace is a std::tuple
  return drx::sum(drx::square(predict(m, x) - y));
};
using row = std::tuple<drx::array<float, 4>, drx::array<float, 2>>;
// cut-end predict

// cut-begin compose
constexpr auto mean_error = [](auto m, auto data) {
  return drx::reduce_mean(drx::map(error_of_row, drx::broadcast<clients>(m), data));
};
constexpr auto step = [](auto m, auto rate, auto data) {
  auto [value, slope] = drx::value_and_grad(mean_error)(m, data);  // slope is a model, as m is
  return std::tuple{m - rate * slope, value};
};
using Step = drx::program<step, model, float, drx::placed<row, clients>>;
// cut-end compose

// cut-begin halves
constexpr auto half_the_bytes = [](auto w, auto rows) {  // w: array<float, 4>, rows: array<bfloat16, 4> for each client
  auto slopes = drx::map(
      [](auto p, auto own) {
        auto x = drx::cast<float>(own);
        return drx::grad([=](auto v) { return drx::softplus(drx::dot(v, x)); })(p);
      },
      drx::broadcast<clients>(w), rows);
  return drx::reduce_mean(slopes, drx::as<drx::bfloat16>);  // an array<float, 4>
};
// cut-end halves

// cut-begin personal
constexpr auto one_step_each = [](auto m, auto rate, auto data) {
  auto personal = drx::map([](auto mine, auto r, auto d) { return mine - r * drx::grad(error_of_row)(mine, d); },
                           drx::broadcast<clients>(m), drx::broadcast<clients>(rate), data);
  return drx::reduce_mean(drx::map(error_of_row, personal, data));  // the mean error after each client's own step
};
constexpr auto slope_of_rate = drx::grad<1>(one_step_each);  // d/d rate, through the inner gradient
using SlopeOfRate = drx::program<slope_of_rate, model, float, drx::placed<row, clients>>;
// cut-end personal

// cut-begin loops
constexpr auto root_of = [](auto a) {  // Newton's method, 20 steps
  return drx::fori_loop<20>(a, [=](auto x) { return 0.5 * (x + a / x); });
};
constexpr auto discounted = [](auto rewards, auto rate) {  // rewards: array<double, 3>
  auto [last, running] = drx::scan(
      [=](auto total, auto r) {
        auto next = rate * total + r;
        return std::pair{next, next};
      },
      drx::zeros<drx::scalar<double>>(), rewards);
  return std::tuple{last, running};
};
// cut-end loops

// cut-begin branches
constexpr auto clipped_step = [](auto w, auto g) {  // only the branch that is taken runs
  return drx::cond(drx::dot(g, g) > 1, [=] { return w - g / drx::sqrt(drx::dot(g, g)); }, [=] { return w - g; });
};
constexpr auto activation = [](auto kind, auto x) {  // kind: int
  return drx::switch_case(kind, [=] { return x; }, [=] { return drx::tanh(x); }, [=] { return drx::relu(x); });
};
// cut-end branches

// cut-begin while_loop
constexpr auto root_within = [](auto a, auto error) {  // as many steps as it takes, and at most 50
  return drx::while_loop<50>([=](auto x) { return drx::abs(x * x - a) > error; },
                             [=](auto x) { return 0.5 * (x + a / x); }, a);
};
// cut-end while_loop

// cut-begin loop_memory
constexpr auto iterated = [](auto w, auto x) {
  return drx::sum(
      drx::fori_loop<64>(x, [=](auto v) { return drx::tanh(drx::matmul(w, v)); }, drx::checkpoint_every<8>));
};
constexpr auto slope_of_iterated = drx::grad<0>(iterated);
// cut-end loop_memory

// cut-begin as_written
constexpr auto fitted = [](auto w, auto x, auto y) {
  return drx::fori_loop<100>(w, [=](auto v) { return v - 0.1 * drx::matmul(drx::transpose(x), drx::matmul(x, v) - y); },
                             {drx::keep_all, drx::no_carried_products});
};
// cut-end as_written

// cut-begin nested
struct schools : drx::placement<schools> {};
struct pupils : drx::placement<pupils> {};

constexpr auto weighted = [](auto marks) {
  auto means = drx::map([](auto m) { return drx::reduce_mean(m); }, marks);    // one mean per school
  auto sizes = drx::map([](auto m) { return drx::count<double>(m); }, marks);  // how many pupils it has
  return drx::reduce_weighted_mean(means, sizes);                              // the mean over all pupils
};
using Weighted = drx::program<weighted, drx::placed<drx::placed<double, pupils>, schools>>;
// cut-end nested

// cut-begin others
constexpr auto longest = drx::monoid{[](auto a, auto b) { return drx::where(b > a, b, a); }, 0};
constexpr auto of_members = [](auto x, auto i) {  // x: one int per client
  auto numbered = drx::map([](auto v, auto k) { return v * drx::cast<int>(k); }, x, drx::partition_index<clients>());
  return std::tuple{drx::reduce_max(x), drx::select(x, i), drx::reduce_with(longest, x), drx::reduce_sum(numbered)};
};
// cut-end others

// cut-begin numbers
constexpr auto numbers = [](auto marks) {  // in a nested placement they begin at 0 for each parent
  return drx::map(
      [](auto m) {
        return drx::reduce_sum(
            drx::map([](auto v, auto k) { return v * drx::cast<double>(k); }, m, drx::partition_index<pupils>()));
      },
      marks);
};
// cut-end numbers

// cut-begin where
constexpr auto huber = [](auto x) { return drx::where(drx::abs(x) < 1, 0.5 * x * x, drx::abs(x) - 0.5); };
// cut-end where

// cut-begin nested_member
struct layer {
  drx::array<float, 2> w, b;
};
struct network {
  layer hidden;
  drx::array<float, 2> out;
};
// cut-end nested_member
}  // namespace
BOOST_HANA_ADAPT_STRUCT(layer, w, b);
BOOST_HANA_ADAPT_STRUCT(network, hidden, out);
namespace {
// cut-begin nested_member_use
constexpr auto shrink = [](auto m) { return 0.5f * m; };  // the whole structure: fine
constexpr auto shrink_hidden = [](auto m) {
  using drx::operator*;  // m.hidden is a plain `layer` still, whose namespace is not drx
  return 0.5f * m.hidden;
};
constexpr auto shrink_by_leaf = [](auto m) { return drx::tree_map([](auto x) { return 0.5f * x; }, m.hidden); };
// cut-end nested_member_use

// cut-begin norm
constexpr auto norm = [](auto x) {
  auto s = drx::dot(x, x);
  return drx::where(s > 0, drx::sqrt(s), 0.0);  // the gradient at 0 is 0
};
// cut-end norm

namespace interpreter = drx::interpreter;
using doctest::Approx;
[[maybe_unused]] const model zero_model{};
}  // namespace

TEST_CASE("guide: placements") {
  using vec3 = drx::array<float, 3>;
  const auto y = interpreter::call<AverageOfSquares>(std::vector<vec3>{{1.f, 2.f, 3.f}, {3.f, 4.f, 5.f}});
  CHECK(y[0] == 5);
  CHECK(y[1] == 10);
  CHECK(y[2] == 17);
  CHECK(drx::show<AverageOfSquares>() == R"((%0: f32[3]@clients) {
  %1: f32[3]@clients = map[clients] %0 (%0: f32[3]) {
    %1: f32[3] = mul %0, %0
    return %1
  }
  %2: f32[3] = reduce_mean[clients] %1
  return %2
}
)");
}

TEST_CASE("guide: a step, and the derivative in its rate") {
  model m{};
  m.scale = 1.0f;
  row r{};
  for (int i = 0; i < 4; ++i) std::get<0>(r)[i] = 1;
  for (int i = 0; i < 2; ++i) std::get<1>(r)[i] = 1;
  const std::vector<row> data(5, r);
  const auto [next, value] = interpreter::call<Step>(m, 0.1f, data);
  CHECK(value == Approx(2));
  CHECK(next.b[0] == Approx(0.2));
  CHECK(next.w(3, 1) == Approx(0.2));
  CHECK(next.scale.item() == Approx(1));
  // after a step of rate r the prediction is 10 r, the error 2 (10 r - 1)^2
  CHECK(interpreter::call<SlopeOfRate>(m, 0.05f, data) == Approx(40 * (0.5 - 1)));
}

TEST_CASE("guide: numbers of 16 bits") {
  using narrow = drx::array<drx::bfloat16, 4>;
  using P = drx::program<half_the_bytes, drx::array<float, 4>, drx::placed<narrow, clients>>;
  const std::vector<narrow> rows{narrow{1, 2, 3, 4}, narrow{-1, 0, 1, 0}};
  const auto slope = interpreter::call<P>(drx::array<float, 4>{}, rows);  // half of each row, averaged
  CHECK(slope[0] == 0);
  CHECK(slope[3] == 1);
}
TEST_CASE("guide: loops") {
  CHECK(interpreter::call<drx::program<root_of, double>>(2.0) == Approx(1.41421356237));
  CHECK(interpreter::call<drx::program<drx::grad(root_of), double>>(4.0) == Approx(0.25));
  const auto [last, running] = interpreter::call<drx::program<discounted, drx::array<double, 3>, double>>(
      drx::array<double, 3>{1., 2., 3.}, 0.5);
  CHECK(last == Approx(4.25));
  CHECK(running[1] == Approx(2.5));
  CHECK(interpreter::call<drx::program<root_within, double, double>>(2.0, 1e-12) == Approx(1.41421356237));
  using square = drx::array<double, 2, 2>;
  const square one{1., 0., 0., 1.}, target{1., 2., 3., 4.};
  CHECK(interpreter::call<drx::program<fitted, square, square, square>>(square{0., 0., 0., 0.}, one, target)[3] ==
        doctest::Approx(4 * (1 - std::pow(.9, 100))));
  const square slope = interpreter::call<drx::program<slope_of_iterated, square, drx::array<double, 2>>>(
      square{.1, 0., 0., .1}, drx::array<double, 2>{1., 1.});
  CHECK(slope[1] == Approx(0).epsilon(1e-6));
}

TEST_CASE("guide: branches") {
  using vec2 = drx::array<double, 2>;
  CHECK(interpreter::call<drx::program<clipped_step, vec2, vec2>>(vec2{1., 1.}, vec2{3., 4.})[1] == Approx(0.2));
  CHECK(interpreter::call<drx::program<clipped_step, vec2, vec2>>(vec2{1., 1.}, vec2{.3, .4})[1] == Approx(0.6));
  CHECK(interpreter::call<drx::program<activation, int, vec2>>(2, vec2{-1., 2.})[0] == 0);
}

TEST_CASE("guide: nested placements") {
  CHECK(interpreter::call<Weighted>(std::vector<std::vector<double>>{{1, 2, 3}, {}, {6}}) == Approx(3));
}

TEST_CASE("sharp bits: numbers of nested members") {
  using P = drx::program<numbers, drx::placed<drx::placed<double, pupils>, schools>>;
  const auto y = interpreter::call<P>(std::vector<std::vector<double>>{{1, 1, 1}, {1, 1}});
  CHECK(y[0] == 3);
  CHECK(y[1] == 1);
}

TEST_CASE("guide: other reductions") {
  const auto [most, second, longer, product] =
      interpreter::call<drx::program<of_members, drx::placed<int, clients>, int>>(std::vector<int>{3, 7, 5}, 1);
  CHECK(most == 7);
  CHECK(second == 7);
  CHECK(longer == 7);
  CHECK(product == 17);
}

TEST_CASE("sharp bits: where, structs in structs, roots") {
  CHECK(interpreter::call<drx::program<huber, double>>(3.0) == Approx(2.5));
  CHECK(interpreter::call<drx::program<drx::grad(huber), double>>(0.5) == Approx(0.5));
  network m{};
  m.hidden.w[1] = 4;
  m.out[0] = 2;
  CHECK(interpreter::call<drx::program<shrink, network>>(m).out[0] == 1);
  CHECK(interpreter::call<drx::program<shrink_hidden, network>>(m).w[1] == 2);
  CHECK(interpreter::call<drx::program<shrink_by_leaf, network>>(m).w[1] == 2);
  const auto g = interpreter::call<drx::program<drx::grad(norm), drx::array<double, 2>>>(drx::array<double, 2>{0, 0});
  CHECK(g[0] == 0);
}
