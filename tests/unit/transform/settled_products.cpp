// Of which products a zero must win is found out from the whole program: random programs in which an infinite value is
// handed on to a guard have finite derivatives, and where all is finite products are plain.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"
#include "harness/random_seeds.hpp"

#include <cmath>
#include <random>

using drx::builder;
using drx::dtype;
using drx::entry;
using drx::tape;
using drx::tapes;
using drx::vec;
namespace emit = drx::emit;
namespace prim = drx::prim;

namespace {

constexpr std::int64_t n = 4;
const drx::abstract_value row(dtype::float64, drx::make_shape(n));

struct dice {
  std::mt19937 r;
  int below(int k) { return static_cast<int>(r() % static_cast<unsigned>(k)); }
};

int positions(builder& b, dice& d) {
  std::int32_t at[n] = {};
  for (std::int32_t& i : at) i = d.below(static_cast<int>(n));
  return emit::data(b, {dtype::int32, drx::make_shape(n)}, at);
}
int number(builder& b, double x) { return emit::constant(b, row, x); }

/// Infinite or NaN where x is 0 (x has zeros, and else numbers between 1/2 and 2).
int singular(builder& b, dice& d, int x) {
  switch (d.below(7)) {
    case 0: return emit::log(b, x);
    case 1: return emit::rsqrt(b, x);
    case 2: return emit::div(b, number(b, 1), x);
    case 3: return emit::div(b, x, x);
    case 4: return emit::pow(b, x, number(b, -.5));
    case 5: return b.add1(prim::atanh, {emit::sub(b, number(b, 1), emit::mul(b, x, number(b, .25)))});
    default: return b.add1(prim::lgamma, {x});
  }
}

/// The elements of x (and of w), of the same shape, elsewhere.
int handed_on(builder& b, dice& d, int x, int w) {
  switch (d.below(14)) {
    case 0: return emit::flip(b, x, {0});
    case 1: return emit::concatenate(b, {emit::part_of_axis(b, x, 0, 2, n - 2), emit::part_of_axis(b, w, 0, 0, 2)}, 0);
    case 2: return emit::take(b, x, positions(b, d), 0, 0);
    case 3: {
      const int order = b.add1(prim::argsort, {x});
      return emit::take(b, x, order, 0, 0);
    }
    case 4: return emit::sum(b, emit::broadcast_to(b, x, drx::make_shape(1, n)), {0});
    case 5:
      return emit::reshape(b, emit::transpose(b, emit::reshape(b, x, drx::make_shape(2, n / 2)), {1, 0}), row.shape);
    case 6: return emit::pad(b, emit::part_of_axis(b, x, 0, 1, n - 1), {1}, {0}, {0});
    case 7: return emit::dynamic_slice(b, x, emit::constant(b, {dtype::int32, drx::make_shape(1)}, 0), {n}, 0);
    case 8:
      return emit::update_slice(b, w, emit::part_of_axis(b, x, 0, 0, 2),
                                emit::constant(b, {dtype::int32, drx::make_shape(1)}, 1), 0);
    case 9: return emit::add(b, x, w);
    case 10: return b.add1(prim::maximum, {x, w});
    case 11: {  // a branch
      builder then, otherwise;
      for (builder* r : {&then, &otherwise}) {
        const int in = r->input(row);
        r->output(r == &then ? emit::flip(*r, in, {0}) : in);
      }
      const int condition = emit::less(b, emit::sum(b, w, {0}), emit::constant(b, {dtype::float64, {}}, 0));
      return b.add(prim::cond, {condition, x}, {}, tapes{then.result(), otherwise.result()})[0];
    }
    case 12: {  // a carry, or slices of a loop
      builder body;
      body.input({dtype::int32, {}});
      const int carry = body.input(row), slice = body.input({dtype::float64, {}});
      body.output(emit::flip(body, carry, {0}));
      body.output(slice);
      return b.add(prim::scan, {x, x}, prim::rules::scan::view(n, 0, 1).make(), tapes{body.result()})[d.below(2)];
    }
    default: {  // a carry that gets infinite in the loop
      builder body;
      body.input({dtype::int32, {}});
      const int other = body.input(row), carry = body.input(row);
      body.output(emit::add(body, emit::mul(body, number(body, .5), carry), emit::flip(body, other, {0})));
      return b.add(prim::scan, {x, w}, prim::rules::scan::view(3, 1, 1).make(), tapes{body.result()})[0];
    }
  }
}
/// sum(where(-100 < l < 100, f(l w), 0))
tape random_program(unsigned seed) {
  dice d{std::mt19937(seed)};
  builder b;
  const int x = b.input(row), w = b.input(row);
  int l = singular(b, d, x);
  for (int i = d.below(4); i >= 0; --i) l = handed_on(b, d, l, w);
  int y = emit::mul(b, l, w);
  if (d.below(3) == 0) y = emit::mul(b, y, emit::sin(b, w));
  if (d.below(3) == 0) y = b.add1(prim::tanh, {y});
  if (d.below(3) == 0) y = emit::mul(b, y, y);
  const int inside = b.add1(prim::logical_and, {emit::less(b, number(b, -100), l), emit::less(b, l, number(b, 100))});
  b.output(emit::sum(b, emit::where(b, inside, y, number(b, 0)), {0}));
  return b.result();
}
tape derivative(const tape& t, bool reverse) {
  const vec<bool> moving(t.inputs.size(), true), given(t.outputs.size(), true);
  return reverse ? drx::transform::pullback(t, moving, given) : drx::transform::jvp(t, moving);
}
/// What is wrong with the derivatives of a random program, up to the second and in any order of modes; empty where
/// nothing is.
std::string fault(unsigned seed) {
  for (int order = 1; order <= 2; ++order)
    for (unsigned modes = 0; modes < 1U << order; ++modes) {
      tape t = random_program(seed);
      for (int k = 0; k < order; ++k) t = derivative(t, (modes >> k & 1U) != 0);
      const tape settled = drx::transform::settled_products(t);
      if (drx::transform::detail::has_doubts(settled)) return "a product is in doubt";
      std::mt19937 r(seed);
      harness::tensors in;
      for (int i : t.inputs) {
        in.emplace_back(t.values[i]);
        const bool of_x = in.size() == 1;
        for (std::int64_t k = 0; k < in.back().size(); ++k)
          in.back().data<double>()[k] =
              of_x && r() % 3 == 0 ? 0 : (r() % 2 && !of_x ? -1 : 1) * std::uniform_real_distribution<double>(.5, 2)(r);
      }
      const auto before = drx::interpreter::run(t, in), after = drx::interpreter::run(settled, in);
      for (std::size_t o = 0; o < after.size(); ++o)
        for (std::int64_t i = 0; i < after[o].size(); ++i) {
          const double y = after[o].data<double>()[i], z = before[o].data<double>()[i];
          if (!std::isfinite(y))
            return "order " + std::to_string(order) + ", modes " + std::to_string(modes) +
                   ": a derivative is not finite\n" + drx::show(settled);
          if (std::abs(y - z) > 1e-12 * std::abs(z)) return "settled otherwise than in doubt";
        }
    }
  return "";
}
int count(const tape& t, const drx::primitive& p) {
  int k = 0;
  drx::any_entry(t, [&](const entry& e) {
    k += e.prim == &p;
    return false;
  });
  return k;
}
}  // namespace

TEST_CASE("infinite values that are handed on: derivatives of random programs are finite") {
  harness::for_random_seeds(300, [](unsigned seed) {
    const std::string what = harness::fault_or_what_is_thrown([&] { return fault(seed); });
    if (!what.empty()) FAIL_CHECK("DRX_RANDOM_SEED=" << seed << ": " << what);
  });
}

namespace {
using drx::array;
constexpr auto network = [](auto w, auto v, auto x) {
  const auto loss = [&](auto p, auto q) {
    const auto h = drx::tanh(drx::matmul(x, p));
    return -drx::sum(drx::index<0>(drx::log_softmax(drx::matmul(h, q)))) +
           drx::sum(drx::sqrt(drx::mean<0>(h * h) + 1e-6)) + drx::dot(drx::max<0>(h), drx::max<0>(h));
  };
  return drx::fori_loop<9>(std::tuple{w, v}, [&](auto p) {
    const auto [gw, gv] = drx::grad<0, 1>(loss)(std::get<0>(p), std::get<1>(p));
    return std::tuple{std::get<0>(p) - 0.1 * gw, std::get<1>(p) - 0.1 * gv};
  });
};
}  // namespace

TEST_CASE("where all is finite products are plain, in a loop too") {
  const tape t = drx::program<network, array<float, 3, 5>, array<float, 5, 4>, array<float, 2, 3>>::tape().thaw();
  CAPTURE(drx::show(t));
  CHECK(!drx::transform::detail::has_doubts(t));
  const auto& body = t.entries[t.entries.size() - 1].regions[0];
  bool after_tanh = false;  // the product of a cotangent and tanh's derivative
  for (const entry& e : body.entries)
    if (e.prim == &prim::mul) after_tanh = true;
  CHECK(after_tanh);
  CHECK(count(t, prim::azmul) <= 2);  // of exp, and of the quotient in softmax: always guarded
}

TEST_CASE("inner products of two batches, in doubt") {
  builder b;
  const int x = b.input(row), y = b.input(row);
  b.output(emit::matmul(b, emit::reshape(b, x, drx::make_shape(1, n)), emit::reshape(b, y, drx::make_shape(n, 1)),
                        false, false));
  tape t = derivative(b.result(), false);
  t = drx::transform::batch(t, {false, true, false, true}, 3);
  t = drx::transform::batch(t, {true, false, true, false}, 2);
  const tape settled = drx::transform::detail::settled(t, drx::known_values(t.inputs.size()));
  CHECK(!drx::transform::detail::has_doubts(settled));
  CHECK(count(settled, prim::azmul) == 2);
  harness::tensors in;
  std::mt19937 r(1);
  for (int i : t.inputs) {
    in.emplace_back(t.values[i]);
    for (std::int64_t k = 0; k < in.back().size(); ++k) in.back().data<double>()[k] = static_cast<double>(r() % 8);
  }
  const auto before = drx::interpreter::run(t, in), after = drx::interpreter::run(settled, in);
  for (std::size_t o = 0; o < after.size(); ++o)
    for (std::int64_t i = 0; i < after[o].size(); ++i) CHECK(after[o].data<double>()[i] == before[o].data<double>()[i]);
}

TEST_CASE("what is known of values") {
  const auto known = [](auto write) {
    builder b;
    const int x = b.input(row);
    const int y = write(b, x);
    b.output(y);
    return drx::transform::detail::known_outputs(b.result(), {drx::any_finite()})[0];
  };
  const auto one = [](builder& b) { return number(b, 1); };
  CHECK(!known([](builder& b, int x) { return emit::log(b, x); }).finite);
  CHECK(known([&](builder& b, int x) { return emit::log(b, emit::add(b, one(b), emit::mul(b, x, x))); }).finite);
  CHECK(!known([](builder& b, int x) { return emit::log(b, emit::mul(b, x, x)); }).finite);
  CHECK(known([](builder& b, int x) { return b.add1(prim::sqrt, {emit::mul(b, x, x)}); }).finite);
  CHECK(!known([](builder& b, int x) { return b.add1(prim::sqrt, {x}); }).finite);
  CHECK(!known([](builder& b, int x) { return emit::exp(b, x); }).finite);
  CHECK(known([](builder& b, int x) { return emit::exp(b, emit::neg(b, b.add1(prim::abs, {x}))); }).finite);
  const auto falling = [](builder& b, int x) {  // its first element is x's, whatever the factors are
    const int down = emit::neg(b, b.add1(prim::abs, {x}));
    return emit::recurrence(b, down, down, 0, false);
  };
  CHECK(!known(falling).not_negative);
  const auto noise = [](builder& b, double low) {
    constexpr std::int64_t words[n] = {1, 2, 3, 4};
    const int u = b.add1(prim::unit_interval, {emit::data(b, {dtype::int64, drx::make_shape(n)}, words)});
    return b.add1(prim::erfinv, {emit::add(b, emit::mul(b, u, number(b, 1 - low)), number(b, low))});
  };
  CHECK(known([&](builder& b, int) { return noise(b, -.9999); }).finite);
  CHECK(!known([&](builder& b, int) { return noise(b, -1); }).finite);
  const auto softmax = [](builder& b, int x, std::int64_t off) {
    const int square = emit::reshape(b, x, drx::make_shape(2, 2));
    const int most = emit::over_axes(b, prim::max_over, square, {off});
    const drx::shape kept = off == 1 ? drx::make_shape(2, 1) : drx::make_shape(1, 2);
    const int e =
        emit::exp(b, emit::sub(b, square, emit::broadcast_to(b, emit::reshape(b, most, kept), drx::make_shape(2, 2))));
    return emit::log(b, emit::sum(b, e, {1}));
  };
  CHECK(known([&](builder& b, int x) { return softmax(b, x, 1); }).finite);
  CHECK(!known([&](builder& b, int x) {
           return softmax(b, x, 0);
         }).finite);  // the largest of columns: a row may have none
}
