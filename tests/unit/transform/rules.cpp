// The rules of every primitive on random shapes: derivatives of both modes and orders, batching.
#include <drx/drx.hpp>

#include <all_primitives.hpp>

#include "harness/derivatives.hpp"

using drx::abstract_value;
using drx::builder;
using drx::dtype;
using drx::primitive;
using drx::shape;
using drx::tensor;
using drx::vec;
namespace emit = drx::emit;
namespace prim = drx::prim;

namespace {

struct generator {
  std::mt19937_64 r;
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(n)); }
  shape any_shape(int rank) {
    shape s;
    for (int i = 0; i < rank; ++i) s.push_back(1 + below(4));
    return s;
  }
};
constexpr int rounds = 8;

/// The tape of one function of inputs of type double and the given shapes.
template <class F>
drx::tape tape_of(const std::vector<shape>& shapes, F write) {
  builder b;
  vec<int> in;
  for (const shape& s : shapes) in.push_back(b.input({dtype::float64, s}));
  b.output(write(b, in));
  return b.result();
}
template <class F>
void check(const std::vector<shape>& shapes, F write, const harness::domain& d = {}, std::uint64_t seed = 1) {
  harness::check_rules(tape_of(shapes, write), d, seed);
}

}  // namespace

namespace {
/// Numbers between which an elementwise primitive has derivatives; of one that is not named, -2 and 2.
harness::domain domain_of(const primitive& p) {
  struct bounds {
    const primitive& p;
    double low, high;
  };
  for (const bounds& b : {bounds{prim::log, .5, 3},
                          {prim::log1p, -.5, 3},
                          {prim::sqrt, .5, 3},
                          {prim::rsqrt, .5, 3},
                          {prim::tan, -1, 1},
                          {prim::erfinv, -.6, .6},
                          {prim::cbrt, .5, 3},
                          {prim::acosh, 1.5, 3},
                          {prim::atanh, -.8, .8},
                          {prim::asin, -.8, .8},
                          {prim::acos, -.8, .8},
                          {prim::lgamma, 1.5, 4},
                          {prim::digamma, 1.5, 4},
                          {prim::div, .5, 2},
                          {prim::azdiv, .5, 2},
                          {prim::pow, .5, 3},
                          {prim::atan2, .5, 2},
                          {prim::remainder, .4, .9}})
    if (&b.p == &p) return {.low = b.low, .high = b.high};
  return {.low = -2, .high = 2};
}
/// Whether p takes n doubles and gives a double.
bool takes_doubles(const primitive& p, int n) {
  if (!p.elementwise) return false;
  const vec<abstract_value> operands(n, abstract_value(dtype::float64, {}));
  try {
    return p.type({operands, {}, {}})[0].type == dtype::float64;
  } catch (const char*) {
    return false;
  }
}
}  // namespace

TEST_CASE("elementwise primitives") {
  generator g{std::mt19937_64(1)};
  int checked = 0;
  for (const primitive* p : harness::all_primitives) {
    CAPTURE(p->name);
    const harness::domain d = domain_of(*p);
    for (int n = 1; n <= 2; ++n) {
      if (!takes_doubles(*p, n) || p == &prim::polygamma) continue;  // (the order has no derivative: below)
      ++checked;
      for (int rank = 0; rank < 3; ++rank) {
        const shape s = g.any_shape(rank);
        check(
            std::vector<shape>(static_cast<std::size_t>(n), s),
            [&](builder& b, const vec<int>& x) { return b.add1(*p, x); }, d);
        if (n == 2) check({s}, [&](builder& b, const vec<int>& x) { return b.add1(*p, {x[0], x[0]}); }, d);
      }
    }
  }
  CHECK(checked > 40);
  for (int rank = 0; rank < 3; ++rank) {
    const shape s = g.any_shape(rank);
    check({s, s, s}, [](builder& b, const vec<int>& x) { return b.add1(prim::fma, x); });
    check(
        {s},
        [](builder& b, const vec<int>& x) { return b.add1(prim::polygamma, {emit::constant_like(b, x[0], 2), x[0]}); },
        {.low = 1.5, .high = 4});
    check({s, s, s},
          [](builder& b, const vec<int>& x) { return emit::where(b, emit::less(b, x[0], x[1]), x[1], x[2]); });
  }
  for (int n = -3; n < 8; ++n)
    check({g.any_shape(1)}, [&](builder& b, const vec<int>& x) { return emit::integer_pow(b, x[0], n); },
          {.low = .5, .high = 2, .tolerance = 1e-5});
}

TEST_CASE("primitives of layout") {
  generator g{std::mt19937_64(2)};
  for (int round = 0; round < rounds; ++round) {
    const auto seed = static_cast<std::uint64_t>(round + 1);
    const int rank = 1 + static_cast<int>(g.below(3));
    const shape s = g.any_shape(rank);
    CAPTURE(round);
    vec<std::int64_t> p, start, stop, stride, low, high, interior;
    for (int i = 0; i < rank; ++i) {
      p.push_back(i);
      start.push_back(g.below(s[i]));
      stop.push_back(start[i] + g.below(s[i] - start[i] + 1));
      stride.push_back(1 + g.below(3));
      low.push_back(g.below(3));
      high.push_back(g.below(3));
      interior.push_back(g.below(3));
    }
    for (int i = rank - 1; i > 0; --i) std::swap(p[i], p[static_cast<int>(g.below(i + 1))]);
    check({s}, [&](builder& b, const vec<int>& x) { return emit::transpose(b, x[0], p); }, {}, seed);
    check({s}, [&](builder& b, const vec<int>& x) { return emit::slice(b, x[0], start, stop, stride); }, {}, seed);
    check({s}, [&](builder& b, const vec<int>& x) { return emit::pad(b, x[0], low, high, interior); }, {}, seed);
    check(
        {s}, [&](builder& b, const vec<int>& x) { return emit::reshape(b, x[0], drx::make_shape(s.size())); }, {},
        seed);
    for (int axis = 0; axis < rank; ++axis)
      check({s}, [&](builder& b, const vec<int>& x) { return emit::roll(b, x[0], axis, round - 3); }, {}, seed);
    shape narrow = s;
    for (int i = 0; i < rank; ++i)
      if (g.below(2) == 0) narrow[i] = 1;
    if (g.below(2) == 0) narrow = drx::without_axis(narrow, 0);
    check({narrow}, [&](builder& b, const vec<int>& x) { return emit::broadcast_to(b, x[0], s); }, {}, seed);
    shape more = s, none = s;
    const int axis = static_cast<int>(g.below(rank));
    more[axis] = 1 + g.below(3);
    none[axis] = 0;
    check(
        {s, more, none, s},
        [&](builder& b, const vec<int>& x) { return emit::concatenate(b, {x[1], x[0], x[2], x[1], x[3]}, axis); }, {},
        seed);
  }
}

TEST_CASE("reductions") {
  generator g{std::mt19937_64(3)};
  for (int round = 0; round < rounds; ++round) {
    const int rank = 1 + static_cast<int>(g.below(3));
    vec<std::int64_t> axes;
    for (int i = 0; i < rank; ++i)
      if (g.below(2) == 0) axes.push_back(i);
    for (const primitive* p : {&prim::sum, &prim::max_over, &prim::min_over}) {
      CAPTURE(p->name);
      check({g.any_shape(rank)}, [&](builder& b, const vec<int>& x) { return emit::over_axes(b, *p, x[0], axes); });
    }
  }
}

TEST_CASE("products of matrices, in all forms") {
  generator g{std::mt19937_64(4)};
  for (int form = 0; form < 4; ++form)
    for (int batches = 0; batches < 3; ++batches) {
      const bool tx = form % 2 != 0, ty = form / 2 != 0;
      CAPTURE(form);
      CAPTURE(batches);
      const auto m = 1 + g.below(3), k = 1 + g.below(3), n = 1 + g.below(3);
      shape x = g.any_shape(batches), y = x;
      for (auto e : {tx ? k : m, tx ? m : k}) x.push_back(e);
      for (auto e : {ty ? n : k, ty ? k : n}) y.push_back(e);
      check({x, y}, [&](builder& b, const vec<int>& in) { return emit::matmul(b, in[0], in[1], tx, ty); });
    }
  check({drx::make_shape(3, 3)},
        [](builder& b, const vec<int>& in) { return emit::matmul(b, in[0], in[0], false, true); });
}

namespace {
/// The same with inputs of given types, and on batches of some of them.
template <class F>
void check_batches_too(const std::vector<abstract_value>& types, F write, std::uint64_t seed) {
  builder b;
  vec<int> in;
  for (const abstract_value& t : types) in.push_back(b.input(t));
  b.output(write(b, in));
  const drx::tape t = b.result();
  harness::check_rules(t, {}, seed);
  const int n = in.size();
  for (int mask = 1; mask < 1 << n; ++mask) {
    CAPTURE(mask);
    vec<bool> batched;
    for (int i = 0; i < n; ++i) batched.push_back((mask >> i & 1) != 0);
    harness::check_rules(drx::transform::batch(t, batched, 2), {}, seed);
  }
}
/// Positions of 0, 1, 2: some before the first element and some behind the last one of four.
int spread(builder& b, int i) {
  return emit::sub(b, emit::mul(b, i, emit::constant_like(b, i, 4)), emit::constant_like(b, i, 5));
}
}  // namespace

TEST_CASE("parts at traced positions") {
  generator g{std::mt19937_64(5)};
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const auto seed = static_cast<std::uint64_t>(round + 1);
    const int rank = 1 + static_cast<int>(g.below(3)), sized = 1 + static_cast<int>(g.below(rank));
    const shape s = g.any_shape(rank);
    shape part = s;
    vec<std::int64_t> sizes;
    for (int i = 0; i < sized; ++i) {
      part[i] = g.below(s[i] + 1);
      sizes.push_back(part[i]);
    }
    const abstract_value x(dtype::float64, s), piece(dtype::float64, part);
    const abstract_value starts(round % 2 == 0 ? dtype::int32 : dtype::int64, drx::make_shape(sized));
    check_batches_too(
        {x, starts},
        [&](builder& b, const vec<int>& in) { return emit::dynamic_slice(b, in[0], spread(b, in[1]), sizes, 0); },
        seed);
    if (round % 2 == 0)
      check_batches_too(
          {x, piece, starts},
          [&](builder& b, const vec<int>& in) { return emit::update_slice(b, in[0], in[1], spread(b, in[2]), 0); },
          seed);
  }
}

TEST_CASE("elements at arrays of positions") {
  generator g{std::mt19937_64(6)};
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const auto seed = static_cast<std::uint64_t>(round + 1);
    const int rank = 1 + static_cast<int>(g.below(3)), axis = static_cast<int>(g.below(rank));
    const shape s = g.any_shape(rank), any = g.any_shape(static_cast<int>(g.below(3)));
    shape taken, along = s;
    for (int i = 0; i < axis; ++i) taken.push_back(s[i]);
    for (int i = 0; i < any.rank; ++i) taken.push_back(any[i]);
    for (int i = axis + 1; i < rank; ++i) taken.push_back(s[i]);
    along[axis] = g.below(4);
    const dtype type = round % 2 == 0 ? dtype::int32 : dtype::int64;
    const abstract_value x(dtype::float64, s), i(type, any), k(type, along), u(dtype::float64, taken);
    check_batches_too(
        {x, i}, [&](builder& b, const vec<int>& in) { return emit::take(b, in[0], spread(b, in[1]), axis, 0); }, seed);
    check_batches_too(
        {i, u},
        [&](builder& b, const vec<int>& in) { return emit::scatter(b, spread(b, in[0]), in[1], axis, 0, s[axis]); },
        seed);
    if (round % 2 == 0)
      check_batches_too(
          {x, k}, [&](builder& b, const vec<int>& in) { return emit::take_along(b, in[0], spread(b, in[1]), axis); },
          seed);
  }
}

TEST_CASE("cumulative sums and products, products, orders") {
  generator g{std::mt19937_64(7)};
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const auto seed = static_cast<std::uint64_t>(round + 1);
    const int rank = 1 + static_cast<int>(g.below(3)), axis = static_cast<int>(g.below(rank));
    const bool backwards = g.below(2) == 0;
    const shape s = g.any_shape(rank);
    vec<std::int64_t> some;
    for (int i = 0; i < rank; ++i)
      if (g.below(2) == 0) some.push_back(i);
    check({s}, [&](builder& b, const vec<int>& x) { return emit::flip(b, x[0], some); }, {}, seed);
    check({s}, [&](builder& b, const vec<int>& x) { return emit::cumsum(b, x[0], axis, backwards); }, {}, seed);
    check({s}, [&](builder& b, const vec<int>& x) { return emit::cumprod(b, x[0], axis, backwards); }, {}, seed);
    check(
        {s, s}, [&](builder& b, const vec<int>& x) { return emit::recurrence(b, x[0], x[1], axis, backwards); }, {},
        seed);
    check({s}, [&](builder& b, const vec<int>& x) { return emit::over_axes(b, prim::prod, x[0], some); }, {}, seed);
    const drx::attributes walk = prim::rules::along_axis::view(axis, backwards).make();
    for (const primitive* p : {&prim::largest_so_far, &prim::smallest_so_far})
      check(
          {s}, [&](builder& b, const vec<int>& x) { return emit::take_along(b, x[0], b.add1(*p, {x[0]}, walk), axis); },
          {}, seed);
    for (const primitive* p : {&prim::cummax, &prim::cummin})
      check({s}, [&](builder& b, const vec<int>& x) { return b.add1(*p, {x[0]}, walk); }, {}, seed);
    for (const primitive* p : {&prim::argmax, &prim::argmin})
      check(
          {s},
          [&](builder& b, const vec<int>& x) {
            const int at = emit::cast(b, emit::over_axes(b, *p, x[0], {axis}), b.type(x[0]).type);
            return emit::mul(b, emit::sum(b, x[0], {axis}), at);
          },
          {}, seed);
    check(
        {s},
        [&](builder& b, const vec<int>& x) { return emit::take_along(b, x[0], emit::argsort(b, x[0], axis), axis); },
        {}, seed);
  }
}

TEST_CASE("products with zeros among their factors") {
  const shape s = drx::make_shape(2, 5);
  harness::random r(8);
  for (int zeros = 1; zeros <= 3; ++zeros) {
    CAPTURE(zeros);
    tensor x = harness::random_tensor({dtype::float64, s}, {.low = .5, .high = 2}, r);
    for (int i = 0; i < zeros; ++i) x.data<double>()[1 + 3 * i % 5] = x.data<double>()[9 - i] = 0;
    auto holds = [&](auto write) { harness::check_derivatives(tape_of({s}, write), {.orders = 3}, 8, {x}); };
    holds([&](builder& b, const vec<int>& in) { return emit::over_axes(b, prim::prod, in[0], {1}); });
    holds([&](builder& b, const vec<int>& in) { return emit::cumprod(b, in[0], 1, false); });
    holds([&](builder& b, const vec<int>& in) { return emit::cumprod(b, in[0], 1, true); });
  }
}
