// Random programs with their gradients, written by a generator at compile time, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
using drx::abstract_value;
using drx::builder;
using drx::dtype;
using drx::shape;
using drx::vec;
namespace emit = drx::emit;
namespace prim = drx::prim;

struct clients : drx::placement<clients> {};
using matrix = drx::array<double, 3, 5>;
using row = drx::array<double, 5>;

/// Writes random operations on a pool of values of four shapes.
struct generator {
  unsigned state;
  constexpr int below(int n) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int>((state >> 8) % static_cast<unsigned>(n));
  }
  static constexpr shape shape_of(int k) {
    return k == 0 ? drx::make_shape(3, 5) : k == 1 ? drx::make_shape(5) : k == 2 ? drx::make_shape() : drx::make_shape(3, 1);
  }
  /// Any of the pool, brought to shape k.
  constexpr int operand(builder& b, const vec<int>& pool, int k) {
    int x = pool[below(pool.size())];
    const shape want = shape_of(k);
    if (b.shape(x) == want) return x;
    if (b.shape(x).rank == want.rank || b.shape(x).rank == 0 || want.rank == 2) {
      if (broadcasts(b.shape(x), want)) return emit::broadcast_to(b, x, want);
    }
    while (b.shape(x).rank > want.rank) x = emit::sum(b, x, {below(b.shape(x).rank)});
    if (b.shape(x) == want) return x;
    if (b.shape(x).rank == 2) x = emit::sum(b, x, {0, 1});
    while (b.shape(x).rank > 0) x = emit::sum(b, x, {0});
    return emit::broadcast_to(b, x, want);
  }
  static constexpr bool broadcasts(const shape& from, const shape& to) {
    return drx::broadcastable(from, to) && drx::broadcast_shapes(from, to) == to;
  }
  constexpr int operation(builder& b, const vec<int>& pool, int depth) {
    const int k = below(4);
    const auto x = [&] { return operand(b, pool, k); };
    switch (below(depth > 0 ? 16 : 14)) {
      case 0: return emit::add(b, x(), x());
      case 1: return emit::sub(b, x(), x());
      case 2: return emit::mul(b, x(), x());
      case 3: return b.add1(prim::tanh, {x()});
      case 4: return emit::sin(b, x());
      case 5: return b.add1(prim::sigmoid, {x()});
      case 6: return b.add1(prim::maximum, {x(), x()});
      case 7: {
        const int a = x(), c = x();
        return emit::where(b, emit::less(b, a, c), x(), x());
      }
      case 8: {  // a product: [3, 5] [5, 3] [3, 5] or of a vector
        const int a = operand(b, pool, 0), c = emit::matmul(b, a, operand(b, pool, 0), false, true);
        return b.add1(prim::tanh, {emit::matmul(b, c, operand(b, pool, 0), false, false)});
      }
      case 9: {
        const int a = operand(b, pool, 0), v = emit::reshape(b, operand(b, pool, 1), drx::make_shape(5, 1));
        return b.add1(prim::tanh, {emit::matmul(b, a, v, false, false)});
      }
      case 10: {
        drx::attributes axis;
        axis.ints = {below(2)};
        const int m = b.add1(below(2) ? prim::max_over : prim::min_over, {operand(b, pool, 0)}, axis);
        return axis.ints[0] == 0 ? m : emit::reshape(b, m, drx::make_shape(3, 1));
      }
      case 11: {
        const int t = emit::transpose(b, operand(b, pool, 0), {1, 0});
        return emit::reshape(b, below(2) ? t : emit::sin(b, t), drx::make_shape(3, 5));
      }
      case 12: {
        const int a = operand(b, pool, 0);
        return emit::concatenate(b, {emit::slice(b, a, {1, 0}, {3, 5}, {1, 1}), emit::slice(b, a, {0, 0}, {1, 5}, {1, 1})}, 0);
      }
      case 13: return emit::div(b, x(), emit::add(b, b.add1(prim::abs, {x()}), emit::constant(b, {dtype::float64, shape_of(k)}, 1)));
      default: return loop(b, pool, k, depth - 1);
    }
  }
  /// A loop of three values, over slices of a matrix, whose body is random too; one of its results.
  constexpr int loop(builder& b, const vec<int>& pool, int k, int depth) {
    const int shapes[] = {k, below(4), 1};
    vec<int> operands{operand(b, pool, below(4))};  // a constant
    for (int s : shapes) operands.push_back(operand(b, pool, s));
    operands.push_back(operand(b, pool, 0));  // three slices
    builder body(&b);
    body.input({dtype::int32, {}});
    vec<int> inner;
    for (int i = 0; i < 4; ++i) inner.push_back(body.input(b.type(operands[i])));
    inner.push_back(body.input({dtype::float64, drx::make_shape(5)}));
    for (int i = 0; i < 3; ++i) inner.push_back(operation(body, inner, depth));
    for (int s : shapes) body.output(body.add1(prim::tanh, {operand(body, inner, s)}));
    if (below(2)) body.output(inner[below(inner.size())]);
    const vec<int> r = b.add(prim::scan, operands, prim::rules::scan::attrs(3, below(2) != 0, 1, 3), {body.result()});
    const int chosen = r[below(r.size())];
    if (b.shape(chosen).rank <= 2) return operand(b, {chosen}, k);
    return operand(b, {r[0]}, k);
  }
  constexpr int number(builder& b, const vec<int>& pool) {
    int s = operand(b, pool, 2);
    for (int i = 1; i <= 3; ++i) {
      int x = pool[pool.size() - i];
      while (b.shape(x).rank > 0) x = emit::sum(b, x, {0});
      s = emit::add(b, s, b.add1(prim::tanh, {x}));
    }
    return s;
  }
};

/// The number that t computes, and its gradients in t's inputs.
constexpr drx::tape with_gradients(const drx::tape& t) {
  const drx::tape g = drx::transform::vjp(t, vec<bool>(t.inputs.size(), true), {true}, true);
  builder b;
  vec<int> in;
  for (int i = 0; i < t.inputs.size(); ++i) in.push_back(b.input(t.values[t.inputs[i]]));
  in.push_back(emit::constant(b, {dtype::float64, {}}, 1));
  for (int o : drx::inline_tape(b, g, in)) b.output(o);
  return drx::without_dead_entries(b.result());
}

template <unsigned Seed>
struct random_program {
  using inputs = std::tuple<matrix, row, double>;
  using result = std::tuple<drx::array<double>, matrix, row, drx::array<double>>;
  static constexpr drx::tape make() {
    generator g{Seed * 7919U + 17U};
    builder b;
    vec<int> pool{b.input({dtype::float64, drx::make_shape(3, 5)}), b.input({dtype::float64, drx::make_shape(5)}), b.input({dtype::float64, {}})};
    for (int i = 0; i < 4; ++i) pool.push_back(g.operation(b, pool, 1));
    b.output(g.number(b, pool));
    return with_gradients(b.result());
  }
  static constexpr const auto& tape() { return drx::frozen<random_program>::value; }
};

/// Two rounds of: a random body over the members and what the round before gave; its results added up or averaged.
template <unsigned Seed>
struct random_rounds {
  using inputs = std::tuple<drx::placed<matrix, clients>, row, double>;
  using result = std::tuple<drx::array<double>, drx::placed<matrix, clients>, row, drx::array<double>>;
  static constexpr drx::tape make() {
    generator g{Seed * 104729U + 5U};
    builder b;
    constexpr auto* p = &drx::placement_of<clients>;
    const int x = b.input(abstract_value(dtype::float64, drx::make_shape(3, 5)).placed_at(p));
    vec<int> pool{b.input({dtype::float64, drx::make_shape(5)}), b.input({dtype::float64, {}})};
    for (int round = 0; round < 2; ++round) {
      vec<int> operands{x};
      for (int i = 0; i < 2; ++i) operands.push_back(emit::broadcast(b, pool[pool.size() - 1 - i], p));
      const vec<int> out = emit::map(b, p, operands, [&](builder& body, const vec<int>& in) {
        vec<int> inner = in;
        for (int i = 0; i < 3; ++i) inner.push_back(g.operation(body, inner, round));
        return vec<int>{inner[inner.size() - 1], inner[inner.size() - 2]};
      });
      drx::attributes a;
      a.placement = p;
      constexpr const drx::primitive* how[] = {&prim::reduce_sum, &prim::reduce_mean, &prim::reduce_max, &prim::reduce_min};
      for (int o : out) pool.push_back(b.add1(prim::tanh, {b.add1(*how[g.below(4)], {o}, a)}));
    }
    b.output(g.number(b, pool));
    return with_gradients(b.result());
  }
  static constexpr const auto& tape() { return drx::frozen<random_rounds>::value; }
};

template <template <unsigned> class P, unsigned... Seed>
void check(std::vector<std::int64_t> members, std::integer_sequence<unsigned, Seed...>) {
  [[maybe_unused]] const auto one = [&]<unsigned S>(std::integral_constant<unsigned, S>) {
    CAPTURE(S);
    harness::check_run<P<S>>({.seed = S}, members);
  };
  (one(std::integral_constant<unsigned, Seed>{}), ...);
}
}  // namespace

// How many of them: each takes the compiler seconds, so that the default is few; -DDRX_RANDOM_PROGRAMS=40 looks further.
#ifndef DRX_RANDOM_PROGRAMS
#define DRX_RANDOM_PROGRAMS 4
#endif
TEST_CASE("random array programs with their gradients") {
  check<random_program>({0, 0}, std::make_integer_sequence<unsigned, DRX_RANDOM_PROGRAMS>{});
}
TEST_CASE("random rounds of map and reduce with their gradients") {
  check<random_rounds>({5, 0, 1, 33}, std::make_integer_sequence<unsigned, DRX_RANDOM_PROGRAMS / 2>{});
}
