#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::builder;
using drx::dtype;
using drx::program;
using drx::vec;
namespace emit = drx::emit;

namespace {
using vec2 = array<double, 2>;

constexpr auto small = [](auto x) { return drx::sum(x * x) < 20; };
constexpr auto grow = [](auto x) { return x * 1.5 + 0.1; };
constexpr auto grown = [](auto x) { return drx::while_loop(small, grow, x); };
template <std::int64_t Max>
constexpr auto grown_at_most = [](auto x) { return drx::while_loop<Max>(small, grow, x); };

vec2 expected(vec2 x, int most) {
  for (int i = 0; i < most && x[0] * x[0] + x[1] * x[1] < 20; ++i) x = vec2{x[0] * 1.5 + 0.1, x[1] * 1.5 + 0.1};
  return x;
}

/// A loop of at most 6 steps from inputs (x, y): its carries are x, whose first element goes to 2 and beyond, and a
/// product.
drx::tape guarded(bool keeps_residuals) {
  builder b;
  const drx::abstract_value t(dtype::float64, drx::make_shape(3)), one(dtype::float64, {});
  const int x = b.input(t), y = b.input(t);
  auto holds = [&](builder& r, int v) {
    return emit::less(r, emit::sum(r, emit::mul(r, v, v), {0}), emit::constant(r, one, 9));
  };
  builder r;
  r.input({dtype::int32, {}});
  const int c = r.input(t);
  r.input({dtype::boolean, {}});
  const int u = r.input(t), v = r.input(t);
  const int next = emit::add(r, emit::mul(r, u, emit::constant_like(r, u, 1.75)), emit::sin(r, c));
  r.output(holds(r, next));
  r.output(next);
  r.output(emit::mul(r, v, emit::cos(r, u)));
  r.output(emit::mul(r, u, v));
  drx::prim::rules::scan::view loop(6, 1, 3);
  loop.guard = 2;
  loop.keeps_residuals = keeps_residuals;
  for (int o : b.add(drx::prim::scan, {y, holds(b, x), x, y}, loop.make(), {r.result()})) b.output(o);
  return b.result();
}
}  // namespace

TEST_CASE("while_loop") {
  for (double start : {0.1, 1.0, 3.0, 5.0}) {
    const vec2 x{start, 0.5};
    CHECK(interpreter::call<program<grown, vec2>>(x)[0] == doctest::Approx(expected(x, 1000)[0]));
    CHECK(interpreter::call<program<grown_at_most<3>, vec2>>(x)[1] == doctest::Approx(expected(x, 3)[1]));
  }
}

TEST_CASE("a body that counts, a carry of several parts, what is around") {
  constexpr auto f = [](auto x, auto bound) {
    return drx::while_loop([=](auto c) { return std::get<0>(c) < bound; },
                           [=](auto i, auto c) { return std::tuple{std::get<0>(c) + x, std::get<1>(c) + i}; },
                           std::tuple{x, 0});
  };
  const auto [sum, steps] = interpreter::call<program<f, double, double>>(2., 9.);
  CHECK(sum == 10);
  CHECK(steps == 0 + 1 + 2 + 3);
}

TEST_CASE("derivatives of a loop that stops") {
  for (bool keeps_residuals : {false, true})
    for (std::uint64_t seed : {1U, 2U, 3U})
      harness::check_rules(guarded(keeps_residuals), {.low = -.5, .orders = seed == 1 ? 3 : 2}, seed);
}

TEST_CASE("forward mode and batches of a loop without a bound") {
  const drx::tape t = program<grown, vec2>::tape().thaw();
  harness::random r(1);
  for (double x : {0.1, 2.0, 4.6}) {
    drx::tensor at(t.values[t.inputs[0]]), direction = at;
    at.data<double>()[0] = at.data<double>()[1] = x;
    direction.data<double>()[0] = 1;
    const auto out = interpreter::run(drx::transform::jvp(t, vec<bool>{true}), {at, direction});
    double factor = 1;
    for (double v = x; 2 * v * v < 20; v = v * 1.5 + 0.1) factor *= 1.5;
    CHECK(out[1].data<double>()[0] == doctest::Approx(factor));
    CHECK(out[1].data<double>()[1] == 0);
  }
  harness::check_batch(t, vec<bool>{true}, {.low = -4, .high = 4}, r);
  CHECK_THROWS_AS(drx::transform::pullback(t, vec<bool>{true}, vec<bool>{true}), const char*);
}

TEST_CASE("a loop from a constant on") {
  constexpr auto g = [](auto x) {
    return drx::while_loop<9>([=](auto c) { return c < x; }, [](auto c) { return c + 1; }, 0.0);
  };
  CHECK(interpreter::call<program<g, double>>(3.5) == 4);
  CHECK(interpreter::call<program<g, double>>(30.) == 9);
}
