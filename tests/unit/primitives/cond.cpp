#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::abstract_value;
using drx::array;
using drx::builder;
using drx::dtype;
using drx::placed;
using drx::program;
using drx::vec;
namespace emit = drx::emit;

namespace {
struct clients : drx::placement<clients> {};
using vec2 = array<double, 2>;

constexpr auto twice = [](auto x) { return x * 2; };
constexpr auto squared = [](auto x) { return x * x; };

/// A tape of a branch on inputs (condition, x, y), each branch a function that a test writes.
template <class F, class G>
drx::tape branch_of(F then, G otherwise) {
  builder b;
  vec<int> in{b.input({dtype::boolean, {}})};
  const abstract_value t(dtype::float64, drx::make_shape(3));
  for (int i = 0; i < 2; ++i) in.push_back(b.input(t));
  drx::tapes branches;
  auto add = [&](auto write) {
    builder r;
    const int x = r.input(t), y = r.input(t);
    for (int o : write(r, x, y)) r.output(o);
    branches.push_back(r.result());
  };
  add(then);
  add(otherwise);
  for (int r : b.add(drx::prim::cond, in, {}, branches)) b.output(r);
  return b.result();
}
}  // namespace

TEST_CASE("cond") {
  constexpr auto f = [](auto x, auto y) {
    auto inner = drx::cond(
        drx::sum(x) > 0, [=](auto v) { return std::tuple{v * y, drx::sum(v)}; },
        [](auto v) { return std::tuple{v, drx::sum(v) - 1}; }, x);
    return std::tuple{inner, drx::cond(drx::sum(y) > 0, [&] { return x; }, [&] { return x + y; })};
  };
  using P = program<f, vec2, vec2>;
  const auto [inner, outer] = interpreter::call<P>(vec2{1, 2}, vec2{3, -4});
  CHECK(std::get<0>(inner)[1] == -8);
  CHECK(std::get<1>(inner) == 3);
  CHECK(outer[0] == 4);
  const auto [other, taken] = interpreter::call<P>(vec2{1, -2}, vec2{3, 4});
  CHECK(std::get<0>(other)[1] == -2);
  CHECK(std::get<1>(other) == -2);
  CHECK(taken[0] == 1);
}

TEST_CASE("a branch on a constant is none") {
  constexpr auto f = [](auto x) { return drx::cond(drx::full<array<bool>>(false), twice, squared, x); };
  const drx::tape t = program<f, vec2>::tape().thaw();
  REQUIRE(t.entries.size() == 1);
  CHECK(t.entries[0].prim == &drx::prim::mul);
}

TEST_CASE("what only the branch not taken computes is not asked for") {
  constexpr auto f = [](auto x, auto y) {
    return std::get<1>(
        drx::cond(drx::sum(x) > 0, [=] { return std::tuple{drx::exp(y), x}; }, [=] { return std::tuple{y, x * 2}; }));
  };
  const drx::tape t = program<f, vec2, vec2>::tape().thaw();
  const drx::entry& e = t.entries.back();
  REQUIRE(e.prim == &drx::prim::cond);
  CHECK(e.operands.size() == 2);
  CHECK(e.results.size() == 1);
  CHECK(e.regions[0].entries.empty());
}

TEST_CASE("derivatives of a branch") {
  const auto sine = [](builder& b, int x, int y) { return vec<int>{emit::mul(b, emit::sin(b, x), y), x}; };
  const auto product = [](builder& b, int x, int y) {
    return vec<int>{emit::mul(b, emit::mul(b, x, x), y), emit::constant_like(b, x, 2)};
  };
  for (std::uint64_t seed : {1U, 2U, 3U, 4U}) harness::check_rules(branch_of(sine, product), {.orders = 3}, seed);
}

TEST_CASE("zero derivatives stay zero") {
  const drx::tape t = branch_of([](builder& b, int x, int) { return vec<int>{emit::constant_like(b, x, 1)}; },
                                [](builder& b, int x, int) { return vec<int>{emit::constant_like(b, x, 2)}; });
  CHECK(drx::transform::pullback(t, vec<bool>{false, true, true}, vec<bool>{true}).entries.size() == 1);
  CHECK(drx::transform::jvp(t, vec<bool>{false, true, true}).entries.size() == 2);
}

TEST_CASE("a branch in a map, of placed values, around a loop") {
  constexpr auto in_map = [](auto x, auto w) {
    return drx::reduce_sum(drx::map(
        [=](auto v) {
          return drx::cond(
              drx::sum(v) > 0, [=](auto u) { return drx::fori_loop<3>(u, [=](auto c) { return drx::sin(c) * w; }); },
              squared, v);
        },
        x));
  };
  harness::check_program<program<in_map, placed<vec2, clients>, vec2>>({.orders = 2});
  constexpr auto of_placed = [](auto x, auto w) {
    auto y =
        drx::cond(drx::sum(w) > 0, [=] { return x * x; }, [=] { return drx::map([=](auto v) { return v * w; }, x); });
    return drx::reduce_mean(drx::map([](auto v) { return drx::exp(v); }, y));
  };
  harness::check_program<program<of_placed, placed<vec2, clients>, vec2>>({.orders = 2});
}

TEST_CASE("switch_case takes the nearest case") {
  constexpr auto f = [](auto i, auto x) {
    return drx::switch_case(i, [=] { return x; }, [=] { return x * 10; }, [=] { return x * 100; });
  };
  for (int i = -2; i < 5; ++i) {
    const vec2 y = interpreter::call<program<f, int, vec2>>(i, vec2{1, 2});
    CHECK(y[1] == (i <= 0 ? 2 : i == 1 ? 20 : 200));
  }
  harness::check_program<program<f, int, vec2>>();
}
