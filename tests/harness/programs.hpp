// Random well-typed programs, written at run time or while compiling: array operations, maps with broadcast values over
// nested and several placements, all reductions, chains of maps, loops and branches inside and around them.
#pragma once

#include <drx/drx.hpp>

namespace harness {

using drx::abstract_value;
using drx::builder;
using drx::dtype;
using drx::shape;
using drx::vec;

struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
struct schools : drx::placement<schools> {};

/// A region being written: its unplaced values, all f64 of four shapes, and its placed ones.
struct program_region {
  builder& b;
  vec<int> pool, data;
  int depth;  // the number of regions that may still be nested in it
};

class program_writer {
 public:
  /// Writes a program of at most `budget` operations; a wide one has cumulative and reversed arrays too.
  constexpr program_writer(unsigned seed, int budget, bool wide)
      : state_(seed * 2654435761U + 977U), budget_(budget), wide_(wide) {
    below(2);
  }

  constexpr int below(int n) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<int>((state_ >> 8) % static_cast<unsigned>(n));
  }
  static constexpr shape shape_of(int k) {
    if (k == 0) return drx::make_shape(3, 5);
    if (k == 1) return drx::make_shape(5);
    if (k == 2) return drx::make_shape();
    return drx::make_shape(3, 1);
  }
  static constexpr abstract_value type_of(int k) { return {dtype::float64, shape_of(k)}; }

  /// Writes n operations; those that open a region are twice as likely where there are placed values.
  constexpr void operations(program_region& r, int n) {
    for (int i = 0; i < n; ++i) operation(r);
  }
  /// Any value of the pool, brought to shape k.
  constexpr int operand(builder& b, const vec<int>& pool, int k) {
    const int from = below(pool.size() + 2);  // the latest are the most likely
    return brought(b, pool[from < pool.size() ? from : pool.size() - 1], k);
  }
  /// A number that depends on the latest values of the region.
  constexpr int number(program_region& r) {
    int s = operand(r.b, r.pool, 2);
    for (int i = 1; i <= 3 && i <= r.pool.size(); ++i)
      s = drx::emit::add(r.b, s, r.b.add1(drx::prim::tanh, {brought(r.b, r.pool[r.pool.size() - i], 2)}));
    return s;
  }

 private:
  static constexpr bool broadcasts(const shape& from, const shape& to) {
    return drx::broadcastable(from, to) && drx::broadcast_shapes(from, to) == to;
  }
  constexpr int brought(builder& b, int x, int k) {
    namespace emit = drx::emit;
    const shape want = shape_of(k);
    if (b.shape(x) == want) return x;
    if ((b.shape(x).rank == want.rank || b.shape(x).rank == 0 || want.rank == 2) && broadcasts(b.shape(x), want))
      return emit::broadcast_to(b, x, want);
    while (b.shape(x).rank > want.rank) x = emit::sum(b, x, {below(b.shape(x).rank)});
    if (b.shape(x) == want) return x;
    while (b.shape(x).rank > 0) x = emit::sum(b, x, {0});
    return emit::broadcast_to(b, x, want);
  }
  constexpr void operation(program_region& r) {
    if (budget_ <= 0) return;
    --budget_;
    if (r.depth > 0 && !r.data.empty() && below(2) == 0) {
      round(r);
    } else if (r.depth > 0 && below(7) == 0) {
      loop(r);
    } else if (r.depth > 0 && below(9) == 0) {
      branch(r);
    } else if (wide_ && below(7) == 0) {
      r.pool.push_back(wide_operation(r.b, r.pool));
    } else {
      r.pool.push_back(array_operation(r.b, r.pool));
    }
  }

  constexpr int array_operation(builder& b, const vec<int>& pool) {
    namespace emit = drx::emit;
    namespace prim = drx::prim;
    const int k = below(4);
    const auto x = [&] { return operand(b, pool, k); };
    const auto constant = [&](double number) { return emit::constant(b, type_of(k), number); };
    switch (below(18)) {
      case 0: return emit::add(b, x(), x());
      case 1: return emit::sub(b, x(), x());
      case 2: return emit::mul(b, x(), x());
      case 3: return b.add1(prim::tanh, {x()});
      case 4: return emit::sin(b, x());
      case 5: return b.add1(prim::sigmoid, {x()});
      case 6: {
        const int a = x();
        return b.add1(below(2) ? prim::maximum : prim::minimum, {a, x()});
      }
      case 7: {  // a branch on a comparison, but not of two numbers that differ in rounding only
        const int a = x(), c = emit::add(b, x(), constant(.125)), d = x();
        return emit::where(b, emit::less(b, a, c), d, x());
      }
      case 8: {  // products: [3, 5] [5, 3] [3, 5] or of a vector
        const int a = operand(b, pool, 0), c = emit::matmul(b, a, operand(b, pool, 0), false, true);
        return b.add1(prim::tanh, {emit::matmul(b, c, operand(b, pool, 0), below(2) != 0, false)});
      }
      case 9: {
        const int a = operand(b, pool, 0), v = emit::reshape(b, operand(b, pool, 1), drx::make_shape(5, 1));
        return b.add1(prim::tanh, {emit::matmul(b, a, v, false, false)});
      }
      case 10: {
        const int axis = below(2);
        const drx::primitive& extremum = below(2) ? prim::max_over : prim::min_over;
        const int m = emit::over_axes(b, extremum, operand(b, pool, 0), {axis});
        return axis == 0 ? m : emit::reshape(b, m, drx::make_shape(3, 1));
      }
      case 11: {
        const int t = emit::transpose(b, operand(b, pool, 0), {1, 0});
        return emit::reshape(b, below(2) ? t : emit::sin(b, t), drx::make_shape(3, 5));
      }
      case 12: {
        const int a = operand(b, pool, 0), c = operand(b, pool, 0);
        return emit::concatenate(
            b, {emit::slice(b, a, {1, 0}, {3, 5}, {1, 1}), emit::slice(b, c, {0, 0}, {1, 5}, {1, 1})}, 0);
      }
      case 13: {
        const int a = x();
        return emit::div(b, a, emit::add(b, b.add1(prim::abs, {x()}), constant(1)));
      }
      case 14: return emit::exp(b, b.add1(prim::tanh, {x()}));
      case 15: {
        const int a = x();
        return emit::log(b, emit::add(b, emit::mul(b, a, a), constant(1.5)));
      }
      case 16: {  // every second column, put back with zeros between
        const int a = emit::slice(b, operand(b, pool, 0), {0, below(2)}, {3, 5}, {1, 2});
        const auto n = b.shape(a)[1];
        return emit::pad(b, a, {0, 5 - (2 * n - 1)}, {0, 0}, {0, 1});
      }
      default: return emit::integer_pow(b, b.add1(prim::tanh, {x()}), 2 + below(3));
    }
  }

  constexpr int wide_operation(builder& b, const vec<int>& pool) {
    namespace emit = drx::emit;
    const int a = operand(b, pool, 0);
    switch (below(4)) {
      case 0: return emit::cumsum(b, a, below(2), below(2) != 0);
      case 1: return emit::cumprod(b, b.add1(drx::prim::tanh, {a}), below(2), below(2) != 0);
      case 2: return emit::flip(b, a, {below(2)});
      default: {  // a row, found at a place that depends on the values
        const int high = emit::less(b, operand(b, pool, 2), operand(b, pool, 2));
        const int start = emit::concatenate(b,
                                            {emit::reshape(b, emit::cast(b, high, dtype::int32), drx::make_shape(1)),
                                             emit::constant(b, {dtype::int32, drx::make_shape(1)}, 0)},
                                            0);
        return emit::reshape(b, emit::dynamic_slice(b, a, start, {1, 5}, 0), drx::make_shape(5));
      }
    }
  }
  /// Whether a number of the region is small.
  constexpr int holds(builder& b, const vec<int>& pool) {
    const int x = b.add1(drx::prim::tanh, {operand(b, pool, 2)});
    return drx::emit::less(b, x, drx::emit::constant_like(b, x, .375));
  }
  /// Two functions of the same values, some of them placed; one of them runs.
  constexpr void branch(program_region& r) {
    builder& b = r.b;
    vec<int> operands{holds(b, r.pool), operand(b, r.pool, below(4)), operand(b, r.pool, below(4))};
    if (!r.data.empty() && below(2) == 0) operands.push_back(r.data[below(r.data.size())]);
    const int shapes[] = {below(4), below(4)};
    drx::tapes branches;
    for (int k = 0; k < 2; ++k) {
      builder body;
      program_region inner{body, {}, {}, r.depth - 1};
      for (int i = 1; i < operands.size(); ++i) {
        const abstract_value t = b.type(operands[i]);
        (t.depth > 0 ? inner.data : inner.pool).push_back(body.input(t));
      }
      operations(inner, below(3));
      for (int s : shapes) body.output(operand(body, inner.pool, s));
      branches.push_back(body.result());
    }
    r.pool.append(b.add(drx::prim::cond, operands, {}, branches));
  }

  /// A loop of three values over the rows of a matrix. Its constants come from the pool and are sometimes placed;
  /// sometimes it stops early, or keeps all its steps.
  constexpr void loop(program_region& r) {
    namespace emit = drx::emit;
    builder& b = r.b;
    const int shapes[] = {below(4), below(4), 1};
    vec<int> operands{operand(b, r.pool, below(4))};
    const bool with_data = !r.data.empty() && below(2) == 0;
    if (with_data) operands.push_back(r.data[below(r.data.size())]);
    const int constants = operands.size();
    const bool stops = below(3) == 0, keeps_residuals = below(3) == 0;
    if (stops) operands.push_back(holds(b, r.pool));
    for (int s : shapes) operands.push_back(operand(b, r.pool, s));
    operands.push_back(operand(b, r.pool, 0));
    builder body;
    body.input({dtype::int32, {}});
    program_region inner{body, {}, {}, r.depth - 1};
    for (int i = 0; i < operands.size(); ++i) {
      const abstract_value t = b.type(operands[i]);
      if (i + 1 == operands.size()) {
        inner.pool.push_back(body.input(type_of(1)));
      } else if (stops && i == constants) {
        body.input(t);
      } else {
        (t.depth > 0 ? inner.data : inner.pool).push_back(body.input(t));
      }
    }
    operations(inner, 1 + below(3));
    if (stops) body.output(holds(body, inner.pool));
    for (int s : shapes) body.output(body.add1(drx::prim::tanh, {operand(body, inner.pool, s)}));
    const bool stacks = below(2) != 0;
    if (stacks) body.output(brought(body, inner.pool.back(), 1));
    drx::prim::rules::scan::view loop(3, constants, 3 + stops);
    loop.backwards = below(2) != 0;
    if (stops) loop.guard = constants + 1;
    loop.keeps_residuals = keeps_residuals;
    const vec<int> out = b.add(drx::prim::scan, operands, loop.make(), {body.result()});
    r.pool.push_back(out[stops + below(3)]);
    if (stacks) r.pool.push_back(emit::broadcast_to(b, out[3 + stops], shape_of(0)));
  }

  /// A map over all placed values at one placement, with broadcast values; its results are reduced, or kept for a later
  /// map.
  constexpr void round(program_region& r) {
    namespace emit = drx::emit;
    builder& b = r.b;
    const int first = r.data[below(r.data.size())];
    const drx::placement_info* p = b.type(first).placements[0];
    vec<int> operands{first};
    for (int d : r.data)
      if (d != first && b.type(d).placements[0] == p && below(2) == 0) operands.push_back(d);
    for (int i = below(2); i < 2; ++i) operands.push_back(emit::broadcast(b, r.pool[below(r.pool.size())], p));
    operands.push_back(emit::broadcast(b, r.pool.back(), p));
    const bool numbered = below(3) == 0;
    if (numbered) {
      drx::attributes a;
      a.placement = p;
      operands.push_back(b.add1(drx::prim::member_index, {}, a));
    }
    const int results = 1 + below(2), steps = 1 + below(3);
    const vec<int> out = emit::map(b, p, operands, [&](builder& body, const vec<int>& in) {
      program_region inner{body, {}, {}, r.depth - 1};
      for (int i : in) {
        const abstract_value t = body.type(i);
        if (t.depth > 0) {
          inner.data.push_back(i);
        } else if (t.type == dtype::float64) {
          inner.pool.push_back(i);
        } else {
          inner.pool.push_back(emit::sin(body, emit::cast(body, i, dtype::float64)));
        }
      }
      operations(inner, steps);
      vec<int> last{inner.pool.back()};
      if (results == 2) last.push_back(inner.pool[below(inner.pool.size())]);
      return last;
    });
    for (int o : out) {
      if (below(4) == 0) {
        r.data.push_back(o);
      } else {
        r.pool.push_back(reduced(b, o, p));
      }
    }
  }
  constexpr int reduced(builder& b, int x, const drx::placement_info* p) {
    namespace emit = drx::emit;
    namespace prim = drx::prim;
    drx::attributes a;
    a.placement = p;
    const auto tanh = [](builder& r, const vec<int>& in) { return vec<int>{r.add1(prim::tanh, {in[0]})}; };
    switch (below(7)) {
      case 0: return b.add1(prim::reduce_sum, {emit::map(b, p, {x}, tanh)[0]}, a);
      case 1: return b.add1(prim::reduce_mean, {x}, a);
      case 2: return b.add1(prim::tanh, {b.add1(prim::reduce_max, {x}, a)});
      case 3: return b.add1(prim::tanh, {b.add1(prim::reduce_min, {x}, a)});
      case 4: return weighted_mean(b, x, p);
      case 5: return product(b, x, p);
      default: return b.add1(prim::tanh, {b.add1(prim::reduce_sum, {x}, a)});
    }
  }
  /// A mean with weights that depend on the values.
  constexpr int weighted_mean(builder& b, int x, const drx::placement_info* p) {
    namespace emit = drx::emit;
    const vec<int> terms = emit::map(b, p, {x}, [](builder& r, const vec<int>& in) {
      const int w = r.add1(drx::prim::sigmoid, {in[0]});
      return vec<int>{emit::mul(r, w, in[0]), w};
    });
    const int total = emit::reduce_sum(b, terms[1], p);
    const int some = b.add1(drx::prim::maximum, {total, emit::constant_like(b, total, .01)});  // 0 without members
    return emit::div(b, emit::reduce_sum(b, terms[0], p), some);
  }
  /// A fold by a monoid with a pull, of factors near 1.
  constexpr int product(builder& b, int x, const drx::placement_info* p) {
    namespace emit = drx::emit;
    const abstract_value t = b.type(x).of_member();
    const int factor = emit::map(b, p, {x}, [](builder& r, const vec<int>& in) {
      const int some = emit::mul(r, r.add1(drx::prim::tanh, {in[0]}), emit::constant_like(r, in[0], .25));
      return vec<int>{emit::add(r, some, emit::constant_like(r, in[0], 1))};
    })[0];
    drx::tapes regions;
    builder combine, identity, pull;
    const int left = combine.input(t);
    combine.output(emit::mul(combine, left, combine.input(t)));
    identity.output(emit::constant(identity, t, 1));
    const int member = pull.input(t), all = pull.input(t), ct = pull.input(t);
    pull.output(emit::div(pull, emit::mul(pull, ct, all), member));
    drx::attributes a;
    a.placement = p;
    return b.add1(drx::prim::reduce_with, {factor}, a, {combine.result(), identity.result(), pull.result()});
  }

  unsigned state_;
  int budget_;
  bool wide_;
};

/// A program of clients, each with a matrix, a number and rows; of schools; and of a row and a number. Its results are
/// a number, and the latest unplaced and placed values.
constexpr drx::tape random_program(unsigned seed, int budget, bool wide = false) {
  builder b;
  const auto placed = [](const abstract_value& t, const drx::placement_info* p) { return t.placed_at(p); };
  constexpr auto* at_clients = &drx::placement_of<clients>;
  program_region top{b, {}, {}, 3};
  top.data.push_back(b.input(placed(program_writer::type_of(0), at_clients)));
  top.data.push_back(b.input(placed(placed(program_writer::type_of(1), &drx::placement_of<rows>), at_clients)));
  top.data.push_back(b.input(placed(program_writer::type_of(2), at_clients)));
  top.data.push_back(b.input(placed(program_writer::type_of(1), &drx::placement_of<schools>)));
  top.pool.push_back(b.input(program_writer::type_of(1)));
  top.pool.push_back(b.input(program_writer::type_of(2)));
  const int inputs = top.data.size();
  program_writer w(seed, budget, wide);
  w.operations(top, 5);
  b.output(w.number(top));
  b.output(top.pool.back());
  if (top.data.size() > inputs) b.output(top.data.back());
  return b.result();
}

}  // namespace harness
