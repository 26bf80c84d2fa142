// drx/plan/staging/lanes.hpp: a body for several members at once, one in each lane: values that differ between members
// get a last axis, along which vectors run. Batching (a new axis 0) suits long members, whose rows fill vectors by
// themselves; for members that are loops over a few numbers, small matrices or images, every operation here works on
// whole vectors, without a shuffle. An entry of a primitive without a rule
// `lanes`, or to which that does not apply, is moved to axis 0, batched, and moved back.
// Tested by tests/unit/run/lanes.cpp and tests/unit/run/lanes_of_images.cpp.
#pragma once

#include <drx/transform/differentiate.hpp>

namespace drx::plan {

/// x with its first axis after all others, and back: as the transpose of a matrix, for which there is a kernel.
constexpr int first_axis_last(builder& b, int x) {
  const shape from = b.shape(x), rest = without_axis(from, 0);
  const int matrix = emit::reshape(b, x, make_shape(from[0], rest.size()));
  return emit::reshape(b, emit::transpose(b, matrix, {1, 0}), with_last(rest, from[0]));
}
constexpr int last_axis_first(builder& b, int x) {
  const shape from = b.shape(x), rest = without_axis(from, from.rank - 1);
  const int matrix = emit::reshape(b, x, make_shape(rest.size(), from.last()));
  return emit::reshape(b, emit::transpose(b, matrix, {1, 0}), with_front(rest, from.last()));
}

/// Writes tapes for n members in lanes.
class lane_writer {
 public:
  builder& b;
  std::int64_t n;

  /// Writes t's entries, on inputs of which some are in lanes. Returns the outputs, and in `lanes` which of them are.
  constexpr vec<int> write(const tape& t, const vec<int>& inputs, vec<bool>& lanes) {
    vec<bool> in(t.values.size(), false);
    for (int i = 0; i < inputs.size(); ++i) in[t.inputs[i]] = lanes[i];
    rewriter w(b, t, inputs);
    w.write([&](const entry& e) {
      vec<bool> on;
      for (int o : e.operands) on.push_back(in[o]);
      if (on.find(true) < 0) return w.copied(e);
      vec<bool> out(e.results.size(), true);
      const vec<int> results = written(e, w.operands(e), on, out);
      for (int i = 0; i < results.size(); ++i) in[e.results[i]] = out[i];
      return results;
    });
    lanes = vec<bool>{};
    for (int o : t.outputs) lanes.push_back(in[o]);
    return w.outputs();
  }
  /// x in lanes: the same value in each.
  constexpr int spread(int x) {
    const shape s = b.shape(x);
    return emit::broadcast_to(b, emit::reshape(b, x, with_last(s, 1)), with_last(s, n));
  }
  /// The sum of x over the lanes. For a product of factors that each lack one of x's two axes, it is a matrix product.
  constexpr int sum(int x) {
    const shape s = b.shape(x);
    const vec<std::int64_t> last{s.rank - 1};
    if (s.rank == 3 && s[0] > 1 && s[1] > 1 && is_floating(b.type(x).type)) {
      vec<int> all, left, right, both, outside;
      add_factors(all, x);
      for (int f : all) {
        const shape from = b.shape(f);
        if (from.rank != 3) return emit::sum(b, x, last);
        if (from[2] == 1 && from[0] * from[1] > 1)
          outside.push_back(f);
        else if (from[0] > 1 && from[1] > 1)
          return emit::sum(b, x, last);
        else
          (from[0] > 1 ? left : from[1] > 1 ? right : both).push_back(f);
      }
      if (!left.empty() && !right.empty()) {
        (s[0] < s[1] ? left : right).append(both);
        const int column = product(left, make_shape(s[0], 1, n)), row = product(right, make_shape(1, s[1], n));
        int r = emit::matmul(b, column, row, false, true);
        for (int f : outside)
          r = emit::mul(b, r,
                        emit::broadcast_to(b, emit::reshape(b, f, make_shape(b.shape(f)[0], b.shape(f)[1])),
                                           make_shape(s[0], s[1])));
        return r;
      }
    }
    return emit::sum(b, x, last);
  }

 private:
  /// x as a product: the factors of its multiplications, before broadcasts. There is a limit, since each square doubles
  /// their number.
  constexpr void add_factors(vec<int>& to, int x) {
    constexpr int most_factors = 16;
    const entry* e = b.definition(x);
    if (e && e->prim == &prim::mul && to.size() < most_factors) {
      add_factors(to, e->operands[0]);
      add_factors(to, e->operands[1]);
    } else {
      to.push_back(e && e->prim == &prim::broadcast_to ? e->operands[0] : x);
    }
  }
  /// The product of factors that are broadcast to [A, 1, n] or [1, B, n], as a matrix.
  constexpr int product(const vec<int>& f, const shape& s) {
    int r = -1;
    for (int i : f) {
      const int x = emit::broadcast_to(b, i, s);
      r = r < 0 ? x : emit::mul(b, r, x);
    }
    return emit::reshape(b, r, make_shape(s[0] * s[1], n));
  }
  /// An entry of whose operands some are in lanes; `out` says which results are.
  constexpr vec<int> written(const entry& e, vec<int> o, const vec<bool>& on, vec<bool>& out) {
    if (e.prim->lanes) {
      vec<int> r = e.prim->lanes({b, e, o, on, n, out, write_in_lanes});
      if (!r.empty()) return r;
    }
    out = vec<bool>(e.results.size(), true);
    for (int i = 0; i < o.size(); ++i)
      if (on[i]) o[i] = last_axis_first(b, o[i]);
    vec<int> r = e.prim->batch({b, e, o, {}, transform::drivers}, on, n);
    for (int& x : r) x = first_axis_last(b, x);
    return r;
  }
  static constexpr vec<int> write_in_lanes(builder& b, std::int64_t n, const tape& t, const vec<int>& inputs,
                                           vec<bool>& lanes) {
    return lane_writer{b, n}.write(t, inputs, lanes);
  }
};

}  // namespace drx::plan
