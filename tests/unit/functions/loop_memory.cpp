#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::abstract_value;
using drx::builder;
using drx::dtype;
using drx::loop_memory;
using drx::vec;
namespace emit = drx::emit;

namespace {

/// A loop of `length` steps over two carries, one of integers, with a constant, slices and stacked results, that uses
/// its index; it goes on while an element of the carry is small, if guarded.
drx::tape loop_of(std::int64_t length, const loop_memory& memory, bool guarded = false) {
  builder b;
  const abstract_value t(dtype::float64, drx::make_shape(2)), one(dtype::float64, {}), whole(dtype::int32, {});
  vec<int> operands{b.input(t), b.input(t)};
  const int xs = b.input(t.with_shape(drx::make_shape(length, 2)));
  builder r;
  const int index = r.input(whole), c = r.input(t);
  int counter = -1;
  auto holds = [&](builder& at, int v) {
    return emit::less(at, emit::sum(at, emit::mul(at, v, v), {0}), emit::constant(at, one, 2));
  };
  if (guarded) {
    r.input({dtype::boolean, {}});
    operands = {operands[0], holds(b, operands[1]), operands[1]};
  }
  const int u = r.input(t);
  counter = r.input(whole);
  const int x = r.input(t);
  const int weight = emit::broadcast_to(r, emit::cast(r, emit::add(r, index, counter), dtype::float64), t.shape);
  const int next =
      emit::add(r, emit::mul(r, emit::sin(r, emit::mul(r, c, u)), weight), emit::mul(r, x, emit::exp(r, u)));
  const int small = emit::div(r, next, emit::constant_like(r, next, guarded ? 4 : 40));
  if (guarded) r.output(holds(r, small));
  r.output(small);
  r.output(emit::add(r, counter, emit::constant_like(r, counter, 1)));
  r.output(emit::mul(r, u, emit::cos(r, x)));
  operands.append({emit::constant(b, whole, 0), xs});
  drx::prim::rules::scan::view loop(length, 1, guarded ? 3 : 2);
  if (guarded) loop.guard = 2;
  for (int o : drx::detail::write_loop(b, r.result(), operands, loop, memory)) b.output(o);
  return b.result();
}
constexpr loop_memory memories[] = {drx::keep_carries, drx::keep_all, drx::checkpoint_every<3>,
                                    drx::checkpoint_every<1>, drx::recompute_all};

}  // namespace

TEST_CASE("a loop's derivatives, whatever it keeps") {
  for (const loop_memory& m : memories) {
    CAPTURE(static_cast<int>(m.what));
    for (std::int64_t length : {1, 3, 7}) harness::check_rules(loop_of(length, m), {.orders = length == 3 ? 3 : 1}, 5);
    harness::check_rules(loop_of(5, m, true), {.low = -.7, .high = .7, .orders = 2}, 7);
  }
}

TEST_CASE("the same values and gradients, whatever a loop keeps") {
  for (std::int64_t length : {0, 1, 4, 16, 23, 64}) {
    harness::random r(3);
    harness::tensors x, cotangents;
    const drx::tape plain = loop_of(length, drx::keep_carries);
    for (int i : plain.inputs) x.push_back(harness::random_tensor(plain.values[i], {}, r));
    const vec<bool> given{true, false, true};
    harness::tensors in = x;
    for (int i : {0, 2}) in.push_back(harness::random_tensor(plain.values[plain.outputs[i]], {}, r));
    const auto expected = drx::interpreter::run(drx::transform::vjp(plain, vec<bool>(3, true), given, true), in);
    for (const loop_memory& m : memories) {
      const auto got =
          drx::interpreter::run(drx::transform::vjp(loop_of(length, m), vec<bool>(3, true), given, true), in);
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(harness::close(got[i], expected[i]));
    }
  }
}

TEST_CASE("what keep_all keeps is not computed twice") {
  const drx::tape t =
      drx::transform::pullback(loop_of(4, drx::keep_all), vec<bool>(3, true), vec<bool>{true, false, true});
  int sines = 0, loops = 0;
  for (const drx::entry& e : t.entries) {
    if (e.prim != &drx::prim::scan) continue;
    ++loops;
    for (const drx::entry& step : e.regions[0].entries)
      sines += step.prim == &drx::prim::sin || step.prim == &drx::prim::exp || step.prim == &drx::prim::cos;
  }
  CHECK(loops == 2);
  CHECK(sines == 5);  // of the step sin, exp and cos, of its derivative a cos and a sin
}
