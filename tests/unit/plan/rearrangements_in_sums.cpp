// Padded arrays that are added up beside each other, and slices of elementwise entries.
#include <drx/drx.hpp>
#include <drx/plan/loops/rearrangements_in_sums.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace {
using drx::builder;
using drx::tape;
namespace emit = drx::emit;

const drx::abstract_value two{drx::dtype::float64, drx::make_shape(2, 16)},
    three{drx::dtype::float64, drx::make_shape(3, 16)}, five{drx::dtype::float64, drx::make_shape(5, 16)};
int before(builder& b, int x, std::int64_t n) { return emit::pad(b, x, {0, 0}, {n, 0}, {0, 0}); }
int behind(builder& b, int x, std::int64_t n) { return emit::pad(b, x, {n, 0}, {0, 0}, {0, 0}); }
int slice(builder& b, int x) { return emit::slice(b, x, {1, 0}, {4, 16}, {1, 1}); }

int count(const tape& t, const drx::primitive& p) {
  return static_cast<int>(
      std::count_if(t.entries.begin(), t.entries.end(), [&](const drx::entry& e) { return e.prim == &p; }));
}
/// The tape after the pass. Its results must be those of t.
tape written(builder& b) {
  const tape t = b.result(), made = drx::plan::with_rearrangements_in_sums(t);
  drx::check(made);
  std::vector<drx::tensor> in;
  double next = 1;
  for (int i : t.inputs) {
    in.emplace_back(t.values[i]);
    for (std::int64_t k = 0; k < in.back().size(); ++k) in.back().data<double>()[k] = next *= -1.0625;
  }
  const auto expected = drx::interpreter::run(t, in), found = drx::interpreter::run(made, in);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::int64_t k = 0; k < expected[i].size(); ++k)
      CHECK(found[i].data<double>()[k] == expected[i].data<double>()[k]);
  return made;
}
}  // namespace

TEST_CASE("arrays that are padded beside each other are joined") {
  for (const bool swapped : {false, true}) {
    builder b;
    const int x = b.input(two), y = b.input(three);
    const int p = before(b, x, 3), q = behind(b, y, 2);
    b.output(emit::add(b, swapped ? q : p, swapped ? p : q));
    const tape made = written(b);
    CHECK(count(made, drx::prim::pad) == 0);
    CHECK(count(made, drx::prim::add) == 0);
    CHECK(count(made, drx::prim::concatenate) == 1);
  }
}
TEST_CASE("so they are in longer sums") {
  builder b;
  const int x = b.input(two), y = b.input(three), z = b.input(five);
  b.output(emit::add(b, behind(b, y, 2), emit::add(b, before(b, x, 3), z)));
  b.output(emit::add(b, emit::add(b, emit::add(b, z, z), behind(b, x, 3)), before(b, y, 2)));
  const tape made = written(b);
  CHECK(count(made, drx::prim::pad) == 0);
  CHECK(count(made, drx::prim::concatenate) == 2);
}
TEST_CASE("others stay padded") {
  builder b;
  const int x = b.input(two), y = b.input(three);
  b.output(emit::add(b, before(b, y, 2), behind(b, y, 2)));                                        // over each other
  b.output(emit::add(b, before(b, x, 3), emit::pad(b, x, {2, 0}, {1, 0}, {0, 0})));                // one has two ends
  b.output(emit::add(b, before(b, before(b, x, 1), 2), emit::pad(b, y, {2, 0}, {0, 0}, {0, 0})));  // 2, 1 and 2 zeros
  const tape made = written(b);
  CHECK(count(made, drx::prim::concatenate) == 0);
  CHECK(count(made, drx::prim::pad) == 6);
}
TEST_CASE("slices are taken before elementwise entries that nothing else reads") {
  builder b;
  const int x = b.input(five), y = b.input(five);
  const int product = emit::mul(b, x, y), read = emit::add(b, x, y);
  b.output(slice(b, emit::neg(b, product)));
  b.output(slice(b, read));
  b.output(read);
  const tape made = written(b);
  int on_slices = 0;
  for (const drx::entry& e : made.entries) on_slices += made.values[e.results[0]].shape == three.shape;
  CHECK(count(made, drx::prim::slice) == 3);
  CHECK(on_slices == 5);  // the slices of x, y and read, the product and its negative
}
TEST_CASE("a square or a multiple that only slices and rolls read is computed where it is read") {
  builder b;
  const int x = b.input(five), square = emit::mul(b, x, x), double_ = emit::mul(b, x, emit::constant(b, five, 2));
  b.output(emit::add(b, slice(b, square), slice(b, emit::roll(b, square, 1, 3))));
  b.output(emit::add(b, slice(b, double_), slice(b, emit::neg(b, emit::roll(b, double_, 1, 5)))));
  const tape made = written(b);
  for (const drx::entry& e : made.entries)
    if (e.prim->role == drx::role::fused) CHECK(made.values[e.results[0]].shape == three.shape);
}
TEST_CASE("what else reads it, or reads two arrays, stays") {
  builder b;
  const int x = b.input(five), y = b.input(five), square = emit::mul(b, x, x), product = emit::mul(b, x, y);
  b.output(emit::add(b, slice(b, square), slice(b, product)));
  b.output(emit::roll(b, product, 1, 3));
  b.output(emit::sum(b, square, {0, 1}));
  const tape made = written(b);
  CHECK(count(made, drx::prim::mul) == 2);
  CHECK(count(made, drx::prim::slice) == 2);
}
namespace {
template <int Loops>
struct nested {
  constexpr auto operator()(auto x) const {
    if constexpr (Loops == 0)
      return drx::sin(x) * x;
    else
      return drx::fori_loop<2>(x, nested<Loops - 1>{});
  }
};
}  // namespace
TEST_CASE("a body within twenty loops is rewritten as often as one within a loop") {
  const tape t = drx::program<nested<20>{}, drx::array<double, 3>>::tape().thaw();
  const std::clock_t begin = std::clock();
  const tape made = drx::plan::with_rearrangements_in_sums(t);
  CHECK(std::clock() - begin < CLOCKS_PER_SEC);  // (twice for each loop around it: several seconds)
  CHECK(drx::show(made) == drx::show(t));
}
