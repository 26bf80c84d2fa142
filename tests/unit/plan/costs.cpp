// What plans weigh: the costs that primitives say of their entries.
#include <drx/drx.hpp>
#include <drx/plan/loops/stacked_factors.hpp>

#include <doctest/doctest.h>

using drx::builder;
using drx::dtype;
using drx::entry_cost;
using drx::make_shape;
using drx::shape;
namespace emit = drx::emit;

namespace {
/// The cost of the product of two matrices.
entry_cost of_product(const shape& x, const shape& y, bool transpose_x = false) {
  builder b;
  b.output(emit::matmul(b, b.input({dtype::float64, x}), b.input({dtype::float64, y}), transpose_x, false));
  const drx::tape t = b.result();
  return drx::cost_of(t, t.entries[0]);
}
}  // namespace

TEST_CASE("a matrix product costs its multiplications") {
  CHECK(of_product(make_shape(2, 3), make_shape(3, 5)).multiplications == 30);
  CHECK(of_product(make_shape(3, 2), make_shape(3, 5), true).multiplications == 30);
  CHECK(of_product(make_shape(7, 2, 3), make_shape(7, 3, 5)).multiplications == 7 * 30);
  CHECK(of_product(make_shape(2, 3), make_shape(3, 5)).suits_lanes);
  CHECK(!of_product(make_shape(1, 3), make_shape(3, 5)).suits_lanes);
  CHECK(!of_product(make_shape(2, 3), make_shape(3, 1)).suits_lanes);
}

TEST_CASE("an entry without the rule costs nothing of its own") {
  builder b;
  b.output(emit::exp(b, b.input({dtype::float64, make_shape(2, 3)})));
  const drx::tape t = b.result();
  const entry_cost cost = drx::cost_of(t, t.entries[0]);
  CHECK((cost.multiplications == 0 && cost.repeats == 1 && !cost.suits_lanes));
}

TEST_CASE("a loop costs its body once for each step") {
  constexpr auto f = [](auto w, auto x) {
    return drx::fori_loop<6>(x, [=](auto, auto v) { return drx::matmul(w, v); });
  };
  using P = drx::program<f, drx::array<double, 2, 2>, drx::array<double, 2, 3>>;
  CHECK(drx::plan::multiplications(P::tape().thaw()) == 6 * 12);
}
