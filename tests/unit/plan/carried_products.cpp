// Loops that carry products of matrices in place of the matrices, and stack factors of products: the same values, less
// work.
#include <drx/drx.hpp>
#include <drx/plan/pipeline.hpp>
#include <drx/run/check/interpreter.hpp>

#include "harness/derivatives.hpp"

using drx::attributes;
using drx::builder;
using drx::make_shape;
using drx::shape;
using drx::vec;
namespace emit = drx::emit;
namespace prim = drx::prim;

namespace {
using drx::abstract_value;
using drx::tape;
using drx::tapes;
using harness::tensors;
using generator = harness::random;

int below(generator& r, int n) { return static_cast<int>(r() % static_cast<unsigned>(n)); }

shape turned(const shape& s, bool yes) {
  if (!yes) return s;
  return make_shape(s[1], s[0]);
}
abstract_value numbers(const shape& s) { return {drx::dtype::float64, s}; }
tape carried(const tape& t) { return drx::plan::with_carried_products(drx::plan::with_stacked_factors(t)); }

std::int64_t multiplications_in_loops(const tape& t) {
  std::int64_t n = 0;
  for (const drx::entry& e : t.entries)
    if (e.prim == &drx::prim::scan)
      for (const drx::entry& p : e.regions[0].entries)
        if (p.prim == &drx::prim::matmul)
          n += *prim::rules::scan::view(e).length * e.regions[0].values[p.results[0]].shape.size() *
               e.regions[0].values[p.operands[0]].shape[prim::rules::matmul::view(p).transposes_first ? 0 : 1];
  return n;
}
void check_same(const tape& a, const tape& b, generator& r) {
  drx::check(b);
  CHECK(drx::plan::multiplications(b) <= drx::plan::multiplications(a));
  tensors x;
  for (int i : a.inputs) x.push_back(harness::random_tensor(a.values[i], {.low = -.3, .high = .3}, r));
  const tensors y = drx::interpreter::run(a, x), z = drx::interpreter::run(b, x);
  REQUIRE(y.size() == z.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK_MESSAGE(harness::close(y[i], z[i]), drx::show(a) << drx::show(b));
}

/// A loop that takes steps with a matrix w; which of its axes constants are multiplied with, and on which side, is
/// random.
struct random_loop {
  generator& r;
  int along = 24 + below(r, 12), across = 6 + below(r, 8),
      steps = below(r, 4) > 0 ? 2 + below(r, 5) : 17 + below(r, 30);
  bool first = below(r, 2) == 0;  // along is w's first axis
  bool decays = below(r, 3) == 0, stacks = below(r, 2) == 0, spoiled = below(r, 4) == 0, guarded = below(r, 3) == 0;
  builder b{};

  /// p w, or w^T p, or the like: its columns or rows are w's.
  int product_with(builder& in, int p, bool flag, int w, bool on_the_left) const {
    return on_the_left ? emit::matmul(in, p, w, flag, !first) : emit::matmul(in, w, p, first, flag);
  }
  abstract_value constant_for(int rows, bool flag, bool on_the_left) const {
    return numbers(turned(on_the_left ? make_shape(rows, along) : make_shape(along, rows), flag));
  }
  int spread(builder& in, int x, int like) const { return emit::broadcast_to(in, x, in.shape(like)); }

  tape make() {
    // Two products are read, and two change w: by the first constant and by the last.
    const bool flag[2] = {below(r, 2) == 0, below(r, 2) == 0}, left[2] = {below(r, 2) == 0, below(r, 2) == 0};
    const int rows[2] = {1 + below(r, 3), 1 + below(r, 3)};
    builder body;
    body.input({drx::dtype::int32, {}});
    const int rate = body.input(numbers({}));
    int p[2];
    for (int i = 0; i < 2; ++i) p[i] = body.input(constant_for(rows[i], flag[i], left[i]));
    const shape of_w = turned(make_shape(along, across), !first);
    const int go = guarded ? body.input({drx::dtype::boolean, {}}) : -1, w = body.input(numbers(of_w)),
              c = body.input(numbers(make_shape(2)));
    const int slice = body.input(numbers({}));
    int read = w;
    if (below(r, 3) == 0) read = emit::mul(body, spread(body, slice, read), emit::neg(body, read));
    int change = -1, y = -1;
    for (int i = 0; i < 2; ++i) {
      const int z = product_with(body, p[i], flag[i], read, left[i]);
      y = z;
      int d = body.add1(drx::prim::sin, {z});
      if (below(r, 2) == 0) d = emit::mul(body, d, spread(body, emit::sum(body, d, {0, 1}), d));
      // d has z's shape: across is its second axis where the constant is on the left
      const bool d_turned = left[i] != first;
      const bool constant_flag = flag[i] != (left[i] == first);
      int g = first ? emit::matmul(body, p[i], d, constant_flag, d_turned)
                    : emit::matmul(body, d, p[i], d_turned, constant_flag);
      if (below(r, 2) == 0) g = emit::div(body, g, emit::constant(body, body.type(g), 3));
      change = emit::accumulate(body, change, g);
    }
    int next = w;
    if (decays) next = emit::mul(body, next, emit::constant(body, body.type(w), .9));
    next = below(r, 2) == 0 ? emit::sub(body, next, emit::mul(body, spread(body, rate, change), change))
                            : emit::add(body, emit::mul(body, change, spread(body, rate, change)), next);
    int sums = emit::add(body, c, spread(body, emit::sum(body, y, {0, 1}), c));
    if (spoiled) sums = emit::add(body, sums, spread(body, emit::sum(body, body.add1(drx::prim::exp, {w}), {0, 1}), c));
    tape region = body.result();
    if (guarded) region.outputs.push_back(go);
    region.outputs.append({next, sums});
    if (stacks) region.outputs.push_back(y);

    vec<int> operands{b.input(numbers({}))};
    for (int i = 0; i < 2; ++i) operands.push_back(b.input(constant_for(rows[i], flag[i], left[i])));
    if (guarded) operands.push_back(emit::constant(b, {drx::dtype::boolean, {}}, 1));
    operands.append({b.input(numbers(of_w)), b.input(numbers(make_shape(2))), b.input(numbers(make_shape(steps)))});
    prim::rules::scan::view loop(steps, 3, guarded ? 3 : 2);
    loop.backwards = below(r, 2) == 0;
    if (guarded) loop.guard = 4;
    loop.products = drx::loop_products::carried;
    for (int o : b.add(drx::prim::scan, operands, loop.make(), tapes{region}))
      if (b.type(o).type != drx::dtype::boolean) b.output(o);
    return b.result();
  }
};
}  // namespace

TEST_CASE("random loops of steps give what they gave, and multiply less") {
  int fewer = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    generator r(seed);
    random_loop loop{r};
    const tape t = loop.make(), u = carried(t);
    check_same(t, u, r);
    const std::int64_t before = multiplications_in_loops(t), after = multiplications_in_loops(u);
    CHECK(after <= before);
    if (loop.spoiled) CHECK(after == before);
    fewer += after < before;
  }
  CHECK(fewer > 100);
}

namespace {
/// A loop over `constants`, `carries` and `xs`, whose body is write(body, inputs); its results.
template <class Write>
vec<int> loop_of(builder& b, int steps, const vec<int>& constants, const vec<int>& carries, const vec<int>& xs,
                 const Write& write) {
  builder body;
  body.input({drx::dtype::int32, {}});
  vec<int> operands = constants, inputs;
  operands.append(carries);
  for (int o : operands) inputs.push_back(body.input(b.type(o)));
  for (int x : xs) inputs.push_back(body.input(prim::rules::scan::slice(b.type(x))));
  operands.append(xs);
  for (int o : write(body, inputs)) body.output(o);
  prim::rules::scan::view loop(steps, constants.size(), carries.size());
  loop.products = drx::loop_products::carried;
  return b.add(prim::scan, operands, loop.make(), tapes{body.result()});
}
int scaled(builder& b, int x, double by) { return emit::mul(b, x, emit::constant(b, b.type(x), by)); }
int summed_product(builder& b, int x, int y) { return emit::sum(b, emit::mul(b, x, y), {0, 1}); }
}  // namespace

TEST_CASE("a matrix without columns") {
  generator r(1);
  random_loop loop{r};
  loop.across = 0;
  loop.spoiled = false;
  const tape t = loop.make();
  check_same(t, carried(t), r);
}
TEST_CASE("products of which several are added for each constant: as many are multiplied for each read one") {
  for (int rows : {8, 32, 96}) {
    builder b;
    const int x = b.input(numbers(make_shape(rows, 48))), w = b.input(numbers(make_shape(48, 12)));
    const vec<int> results = loop_of(b, 20, {x}, {w}, {}, [](builder& body, const vec<int>& in) {
      const int z = emit::matmul(body, in[0], in[1], false, false);
      int next = in[1];
      for (const drx::primitive* f : {&prim::sin, &prim::cos, &prim::tanh})
        next = emit::sub(body, next, scaled(body, emit::matmul(body, in[0], body.add1(*f, {z}), true, false), .1));
      return vec<int>{next};
    });
    b.output(results[0]);
    generator r(1);
    const tape t = b.result(), u = carried(t);
    check_same(t, u, r);
    CHECK(multiplications_in_loops(u) <= multiplications_in_loops(t));
    CHECK((multiplications_in_loops(u) < multiplications_in_loops(t)) == (rows < 48));
  }
}
TEST_CASE("a change that is read twice, many times over") {
  builder b;
  const int x = b.input(numbers(make_shape(2, 12))), w = b.input(numbers(make_shape(12, 3)));
  const vec<int> results = loop_of(b, 20, {x}, {w}, {}, [](builder& body, const vec<int>& in) {
    const int d = body.add1(prim::sin, {emit::matmul(body, in[0], in[1], false, false)});
    int change = emit::matmul(body, in[0], d, true, false);
    for (int i = 0; i < 40; ++i) change = emit::add(body, scaled(body, change, .5), scaled(body, change, .4));
    return vec<int>{emit::sub(body, in[1], change)};
  });
  b.output(results[0]);
  generator r(1);
  const tape t = b.result(), u = carried(t);
  check_same(t, u, r);
  CHECK(multiplications_in_loops(u) < multiplications_in_loops(t));
}
TEST_CASE("stacks that are multiplied with each other, and a stack of products with a stack") {
  builder b;
  const int x = b.input(numbers(make_shape(12, 2))), w = b.input(numbers(make_shape(12, 3))),
            v = b.input(numbers(make_shape(2, 3))), zero = b.input(numbers({}));
  const auto product_of = [](builder& body, int p, int q) { return emit::matmul(body, p, q, true, false); };
  const vec<int> first = loop_of(b, 4, {x}, {w}, {}, [&](builder& body, const vec<int>& in) {
    const int z = product_of(body, in[0], in[1]);
    return vec<int>{scaled(body, in[1], .9), z, z, in[1]};
  });
  const int y = first[1], z = first[2];
  const vec<int> meet = loop_of(b, 4, {}, {zero}, {y, y, z}, [](builder& body, const vec<int>& in) {
    const int sums = emit::add(body, summed_product(body, in[1], in[2]), summed_product(body, in[1], in[3]));
    return vec<int>{emit::add(body, in[0], sums)};
  });
  const vec<int> second = loop_of(b, 4, {x}, {zero}, {first[3]}, [&](builder& body, const vec<int>& in) {
    return vec<int>{in[1], product_of(body, in[0], in[2])};
  });
  const vec<int> third = loop_of(b, 4, {}, {v, zero}, {second[1]}, [](builder& body, const vec<int>& in) {
    return vec<int>{in[0], emit::add(body, in[1], summed_product(body, in[0], in[2]))};
  });
  b.output(meet[0]);
  b.output(third[1]);
  generator r(1);
  const tape t = drx::without_dead_entries(b.result());
  check_same(t, carried(t), r);
}

namespace {
/// Steps by x^T sin(x w), of which the first w is multiplied by `factor(body, w)` at each.
template <class Factor>
tape decaying(const Factor& factor, int steps = 12, drx::loop_products products = drx::loop_products::carried,
              drx::dtype type = drx::dtype::float64) {
  builder b;
  const int x = b.input({type, make_shape(2, 12)}), w = b.input({type, make_shape(12, 3)}), rate = b.input({type, {}});
  const vec<int> results = loop_of(b, steps, {x, rate}, {w}, {}, [&](builder& body, const vec<int>& in) {
    const int d = body.add1(prim::sin, {emit::matmul(body, in[0], in[2], false, false)});
    return vec<int>{
        emit::sub(body, factor(body, in[2], in[1]), scaled(body, emit::matmul(body, in[0], d, true, false), .1))};
  });
  b.output(results[0]);
  tape t = b.result();
  for (drx::entry& e : t.entries)
    if (e.prim == &prim::scan) {
      prim::rules::scan::view loop(e);
      loop.products = products;
      e.attrs = loop.make();
    }
  return t;
}
bool is_carried(const tape& t) { return multiplications_in_loops(carried(t)) < multiplications_in_loops(t); }
std::vector<std::int64_t> lengths_in(const tape& t) {
  std::vector<std::int64_t> n;
  for (const drx::entry& e : t.entries)
    if (e.prim == &prim::scan) n.push_back(*prim::rules::scan::view(e).length);
  return n;
}
}  // namespace

TEST_CASE("only a factor that is known, and does not grow: else errors of the products would") {
  const auto by = [](double number) { return [=](builder& b, int w, int) { return scaled(b, w, number); }; };
  for (const double factor : {1.0, .9, -1.0, 0.0}) CHECK(is_carried(decaying(by(factor))));
  for (const double factor : {1.001, 2.0, -1.5}) CHECK_FALSE(is_carried(decaying(by(factor))));
  CHECK(is_carried(decaying([](builder& b, int w, int) { return emit::sub(b, w, scaled(b, w, .01)); })));
  CHECK(is_carried(decaying(
      [](builder& b, int w, int) { return emit::neg(b, emit::div(b, w, emit::constant(b, b.type(w), 1.25))); })));
  CHECK_FALSE(is_carried(decaying([](builder& b, int w, int) { return emit::add(b, w, scaled(b, w, .01)); })));
  CHECK_FALSE(
      is_carried(decaying([](builder& b, int w, int) { return emit::div(b, w, emit::constant(b, b.type(w), 0)); })));
  CHECK_FALSE(is_carried(
      decaying([](builder& b, int w, int rate) { return emit::mul(b, w, emit::broadcast_to(b, rate, b.shape(w))); })));
}
TEST_CASE("w is computed every 16 steps at the latest, where nothing is left over if it can be") {
  const auto whole = [](builder&, int w, int) { return w; };
  CHECK(lengths_in(carried(decaying(whole, 16))) == std::vector<std::int64_t>{16});
  CHECK(lengths_in(carried(decaying(whole, 64))) == std::vector<std::int64_t>{4});
  CHECK(lengths_in(carried(decaying(whole, 100))) == std::vector<std::int64_t>{10});
  CHECK(lengths_in(carried(decaying(whole, 23))) == std::vector<std::int64_t>{1, 7});
  CHECK(lengths_in(carried(decaying(whole, 37))) == std::vector<std::int64_t>{2, 5});
  generator r(3);
  for (const int n : {16, 37, 64, 100}) check_same(decaying(whole, n), carried(decaying(whole, n)), r);
}
TEST_CASE("a loop's option, and the program's") {
  using drx::loop_products;
  const auto whole = [](builder&, int w, int) { return w; };
  const auto steps = [&](loop_products products, drx::dtype type) { return decaying(whole, 12, products, type); };
  CHECK(is_carried(steps(loop_products::by_program, drx::dtype::float32)));
  CHECK_FALSE(is_carried(steps(loop_products::by_program, drx::dtype::float64)));
  for (const drx::dtype type : {drx::dtype::float32, drx::dtype::float64}) {
    CHECK(is_carried(steps(loop_products::carried, type)));
    CHECK_FALSE(is_carried(steps(loop_products::computed, type)));
    CHECK_FALSE(is_carried(drx::detail::with_products_computed(steps(loop_products::by_program, type))));
    CHECK(is_carried(drx::detail::with_products_computed(steps(loop_products::carried, type))));
  }
}

namespace {
template <int... E>
using floats = drx::array<double, E...>;

constexpr auto loss = [](auto w, auto v, auto x, auto y) {
  const auto e = drx::matmul(drx::tanh(drx::matmul(x, w)), v) - y;
  return drx::mean(e * e);
};
/// Five steps on the same rows; `memory` is what a way back finds of them.
template <bool All, drx::loop_products Products = drx::carry_products>
constexpr auto trained = [](auto r, auto w, auto v, auto x, auto y) {
  return drx::fori_loop<5>(std::pair{w, v},
                           [=](auto m) {
                             const auto [dw, dv] = drx::grad<0, 1>(loss)(m.first, m.second, x, y);
                             return std::pair{m.first - r * dw, m.second - r * dv};
                           },
                           {All ? drx::keep_all : drx::keep_carries, Products});
};
template <bool All, drx::loop_products Products = drx::carry_products>
constexpr auto by_rate = [](auto r, auto w, auto v, auto x, auto y) {
  return drx::value_and_grad([=](auto at) {
    const auto [p, q] = trained<All, Products>(at, w, v, x, y);
    return loss(p, q, x, y);
  })(r);
};
/// As many steps as a counter says, of at most 40.
constexpr auto ended_by_rate = [](auto r, auto w, auto v, auto x, auto y) {
  return drx::grad([=](auto at) {
    const auto [n, p, q] = drx::while_loop<40>([](auto c) { return std::get<0>(c) < 23; },
                                               [=](auto c) {
                                                 const auto [i, a, b] = c;
                                                 const auto [da, db] = drx::grad<0, 1>(loss)(a, b, x, y);
                                                 return std::tuple{i + 1, a - at * da, b - at * db};
                                               },
                                               std::tuple{0 * r, w, v}, {drx::keep_all, drx::carry_products});
    return loss(p, q, x, y);
  })(r);
};
constexpr auto by_rows = [](auto r, auto w, auto v, auto x, auto y) {
  return drx::grad([=](auto rows) {
    const auto [p, q] = trained<true>(r, w, v, rows, y);
    return loss(p, q, rows, y);
  })(x);
};
constexpr auto twice = [](auto r, auto w, auto v, auto x, auto y) {
  return drx::grad([=](auto at) { return by_rate<true>(at, w, v, x, y).second; })(r);
};
template <auto& F>
tape tape_of() {
  return drx::program<F, double, floats<48, 16>, floats<16, 3>, floats<12, 48>, floats<12, 3>>::tape().thaw();
}
void check_carried(const tape& t, double part) {
  generator r(7);
  const tape plain = drx::plan::staged(drx::without_transparent_entries(t)), u = carried(plain);
  check_same(plain, u, r);
  const auto before = static_cast<double>(multiplications_in_loops(plain)),
             after = static_cast<double>(multiplications_in_loops(u));
  CHECK(after < part * before);
}
}  // namespace

TEST_CASE("a network that takes steps on the same rows, and its derivatives by the rate and by the rows") {
  check_carried(tape_of<trained<false>>(), .8);
  check_carried(tape_of<by_rate<false>>(), .75);  // the way back reads products
  check_carried(tape_of<by_rate<true>>(), .7);    // stacks of factors: both loops carry products
  check_carried(tape_of<ended_by_rate>(), .9);    // its way back has a guard for each step
  check_carried(tape_of<by_rows>(), 1.01);        // which needs the weights
  check_carried(tape_of<twice>(), 1.01);
}
TEST_CASE("derivatives of a loop keep its option") {
  using drx::loop_products;
  check_carried(tape_of<by_rate<false, loop_products::carried>>(), .75);
  for (const tape& t :
       {tape_of<by_rate<true, loop_products::computed>>(), tape_of<by_rate<false, loop_products::computed>>(),
        tape_of<by_rate<true, loop_products::by_program>>()}) {
    const tape plain = drx::plan::staged(drx::without_transparent_entries(t));
    CHECK(drx::show(carried(plain)) == drx::show(plain));
  }
}
TEST_CASE("a program without carried products") {
  using P = drx::program<by_rate<true, drx::loop_products::by_program>, float, drx::array<float, 48, 16>,
                         drx::array<float, 16, 3>, drx::array<float, 12, 48>, drx::array<float, 12, 3>>;
  const auto staged = [](const auto& frozen) {
    return drx::plan::staged(drx::without_transparent_entries(frozen.thaw()));
  };
  const tape with = staged(P::tape()), without = staged(drx::without_carried_products<P>::tape());
  CHECK(drx::show(carried(with)) != drx::show(with));
  CHECK(drx::show(carried(without)) == drx::show(without));
}
