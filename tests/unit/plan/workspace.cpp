// Where values lie.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include <doctest/doctest.h>

using drx::array;
using drx::program;

namespace {
/// Of how many updates of a part of an array the result lies where the array lay.
template <class P>
int updates_in_place() {
  using lowered = drx::plan::lowered<P>;
  int n = 0;
  for (const auto& e : lowered::tape.entries) {
    if (e.prim != &drx::prim::update_slice) continue;
    const auto at = [&](const drx::span_of_pool& ids) { return lowered::plan.where[lowered::tape.pool[ids.first]]; };
    n += at(e.operands).space == at(e.results).space && at(e.operands).offset == at(e.results).offset;
  }
  return n;
}
using matrix = array<float, 4, 5>;
constexpr auto network = [](auto w, auto b, auto x, auto v) {
  return drx::sum(drx::square(drx::matmul(drx::tanh(drx::matmul(x, w) + b), v)));
};
}  // namespace

TEST_CASE("an array that nobody reads any more is updated in place") {
  constexpr auto once = [](auto x, auto i) { return drx::update_slice(x * 2, drx::slice<0, 1>(x), i); };
  CHECK(updates_in_place<program<once, matrix, int>>() == 1);
  constexpr auto read_later = [](auto x, auto i) {
    auto y = x * 2;
    auto z = drx::update_slice(y, drx::slice<0, 1>(x), i);
    return drx::matmul(y, drx::transpose(z));
  };
  CHECK(updates_in_place<program<read_later, matrix, int>>() == 0);
  constexpr auto input = [](auto x, auto i) { return drx::update_slice(x, drx::slice<0, 1>(x), i); };
  CHECK(updates_in_place<program<input, matrix, int>>() == 0);
}

TEST_CASE("so is a loop's carry") {
  constexpr auto rows = [](auto x) {
    return drx::fori_loop<4>(
        x, [](auto i, auto c) { return drx::update_slice(c, drx::dynamic_slice<1>(c, i - 1) * 2, i); });
  };
  CHECK(updates_in_place<program<rows, matrix>>() == 1);
  constexpr auto both = [](auto x) {
    return drx::fori_loop<4>(std::tuple{x, x}, [](auto i, auto c) {
      auto [a, b] = c;
      return std::tuple{drx::update_slice(a, drx::slice<0, 1>(b), i), a};
    });
  };
  CHECK(updates_in_place<program<both, matrix>>() == 0);
}

TEST_CASE("what a later loop alone reads is computed there, of what is stored anyway") {
  constexpr auto layer = [](auto x, auto w) {
    const auto h = drx::tanh(drx::matmul(x, w));
    return drx::sum(h * h) * h * (1 - h * h);  // 1 - h h could run in the loop of h, and would be stored beside it
  };
  using lowered = drx::plan::lowered<program<layer, array<float, 8, 4>, array<float, 4, 16>>>;
  int stored = 0;
  for (const auto& e : lowered::tape.entries)
    stored += lowered::plan.stored[lowered::tape.pool[e.results.first]] && e.prim->elementwise;
  CHECK(stored == 3);  // h, h h, the result
  for (const auto& e : lowered::tape.entries)
    if (e.prim == &drx::prim::sub) CHECK_FALSE(lowered::plan.stored[lowered::tape.pool[e.results.first]]);

  constexpr auto masked = [](auto x, auto w) {
    const auto z = drx::matmul(x, w);
    return drx::sum(drx::relu(z)) *
           drx::where(z > 0, z * 0 + 1, z * 0);  // a mask takes less than z, which its tiles need not store
  };
  using masks = drx::plan::lowered<program<masked, array<float, 8, 4>, array<float, 4, 16>>>;
  for (const auto& e : masks::tape.entries)
    if (e.prim == &drx::prim::matmul) CHECK_FALSE(masks::plan.stored[masks::tape.pool[e.results.first]]);
}

TEST_CASE(
    "a loop waits for other readers of what it reads, and writes there; a large result lies where the caller wants it") {
  constexpr auto gradient = [](auto w, auto b, auto x, auto v) { return drx::grad<0, 1, 3>(network)(w, b, x, v); };
  using lowered = drx::plan::lowered<
      program<gradient, array<double, 64, 128>, array<double, 128>, array<double, 32, 64>, array<double, 128>>>;
  CHECK(lowered::plan.server_bytes < 2 * 32 * 128 * 8);
  int sums = 0;
  for (const auto& s : lowered::plan.steps) sums += s.sums;
  CHECK(sums == 2);  // over the rows: b's derivative and v's
  for (const auto& e : lowered::tape.entries)
    if (e.prim == &drx::prim::matmul &&
        lowered::tape.values[lowered::tape.pool[e.results.first]].shape.size() == 64 * 128)
      CHECK(lowered::plan.where[lowered::tape.pool[e.results.first]].space == drx::plan::space::slot);
}
