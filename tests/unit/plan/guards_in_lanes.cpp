// Loops of which each lane, or each element of a batch, has a guard of its own: constants, carries and xs as guards.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace {
using namespace drx;

enum class kind { constant, carry, x };

/// Four steps (of the first so many that a bool among the carries lets it take) over v, by a slope and slices.
tape guarded_loop(kind k, bool endless) {
  const abstract_value pair(dtype::float64, make_shape(2)), number(dtype::float64, {}), flag(dtype::boolean, {});
  const abstract_value rows(dtype::float64, make_shape(4, 2)), flags(dtype::boolean, make_shape(4));
  builder region;
  const int at = region.input({dtype::int32, {}}), constant = k == kind::constant ? region.input(flag) : -1,
            slope = region.input(number), carry = k == kind::carry ? region.input(flag) : -1, v = region.input(pair),
            w = region.input(pair), x = k == kind::x ? region.input(flag) : -1, row = endless ? -1 : region.input(pair);
  const int bent = emit::add(region, emit::mul(region, emit::broadcast_to(region, slope, pair.shape), v), w);
  if (k == kind::carry) {
    const int size = emit::sum(region, emit::mul(region, bent, bent), {0});
    region.output(emit::less(region, size, emit::constant(region, number, 6)));
  }
  region.output(bent);
  region.output(emit::add(region, w, emit::broadcast_to(region, emit::cast(region, at, dtype::float64), pair.shape)));
  if (!endless) region.output(emit::mul(region, row, bent));

  builder b;
  vec<int> operands;
  if (k == kind::constant) operands.push_back(b.input(flag));
  operands.push_back(b.input(number));
  if (k == kind::carry) operands.push_back(b.input(flag));
  operands.push_back(b.input(pair));
  operands.push_back(b.input(pair));
  if (k == kind::x) operands.push_back(b.input(flags));
  if (!endless) operands.push_back(b.input(rows));
  (void)constant, (void)carry, (void)x;
  prim::rules::scan::view loop(4, 1 + (k == kind::constant), 2 + (k == kind::carry));
  if (endless) loop.length = {};
  loop.guard = k == kind::constant ? 1 : k == kind::carry ? 2 : 4;
  for (int r : b.add(prim::scan, operands, loop.make(), one_region(region.take()))) b.output(r);
  tape t = b.take();
  check(t);
  return t;
}
/// With each choice of inputs that differ between lanes.
void check_all(const tape& t) {
  harness::random r(5);
  const harness::domain d{.low = .2, .high = 1.5};
  for (int choice = 1; choice < 1 << t.inputs.size(); ++choice) {
    vec<bool> own;
    for (int i = 0; i < t.inputs.size(); ++i) own.push_back(choice >> i & 1);
    for (int times = 0; times < 4; ++times) {
      harness::check_lanes(t, own, d, r);
      harness::check_batch(t, own, d, r);
    }
  }
}
}  // namespace

TEST_CASE("a guard among the constants") { check_all(guarded_loop(kind::constant, false)); }
TEST_CASE("a guard among the carries") {
  check_all(guarded_loop(kind::carry, false));
  check_all(guarded_loop(kind::carry, true));
}
TEST_CASE("a guard among the xs: steps between others are left out") { check_all(guarded_loop(kind::x, false)); }
