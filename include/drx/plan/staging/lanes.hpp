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
/// What x is first_axis_last of; -1 if it is of nothing.
constexpr int before_lanes(const builder& b, int x) {
  const shape s = b.shape(x);
  const shape before = with_front(without_axis(s, s.rank - 1), s.last());
  const entry* e = b.definition(x);
  if (e && e->prim == &prim::reshape) e = b.definition(e->operands[0]);
  if (!e || e->prim != &prim::transpose) return -1;
  const int matrix = e->operands[0];
  if (b.shape(matrix).rank != 2 || b.shape(matrix)[0] != s.last()) return -1;
  if (b.shape(matrix) == before) return matrix;
  e = b.definition(matrix);
  return e && e->prim == &prim::reshape && b.shape(e->operands[0]) == before ? e->operands[0] : -1;
}

/// Writes tapes for n members in lanes.
class lane_writer {
 public:
  builder& b;
  std::int64_t n;
  bool adds_up = true;      // whether the outputs may be added up over the lanes; those of a loop or a branch are not
  vec<int> constants = {};  // on b: of the loop whose body is written

  /// Writes t's entries, on inputs of which some are in lanes. Returns the outputs, and in `lanes` which of them are.
  constexpr vec<int> write(const tape& t, const vec<int>& inputs, vec<bool>& lanes) {
    vec<bool> in(t.values.size(), false);
    for (int i = 0; i < inputs.size(); ++i) in[t.inputs[i]] = lanes[i];
    const vec<bool> added = added_up(t);
    rewriter w(b, t, inputs);
    w.write([&](const entry& e) {
      vec<bool> on;
      for (int o : e.operands) on.push_back(in[o]);
      if (on.find(true) < 0) return w.copied(e);
      vec<bool> out(e.results.size(), true);
      const vec<int> results = written(e, w.operands(e), on, out, !e.results.empty() && added[e.results[0]]);
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
  /// The sum of x over the lanes. Products of factors that each lack one of the last two axes before the lanes are
  /// matrix products; and of padded ones that were added up, each in a place of its own, each is one. (Others that were
  /// added up are not: what cancels in each lane would not in the products.)
  constexpr int sum(int x) {
    const vec<int> terms = terms_of(x);
    if (const int rows = sum_of_rows(terms); rows >= 0) return rows;
    if (!are_products_apart(terms)) return emit::sum(b, x, {b.shape(x).rank - 1});
    int r = -1;
    for (int term : terms) {
      const int part = sum_of_term(term);
      r = r < 0 ? part : emit::add(b, r, part);
    }
    return r;
  }

 private:
  /// Which of t's values are its outputs, or terms of sums that are. (What is negated or scaled first is added up as
  /// whole arrays anyway.)
  [[nodiscard]] constexpr vec<bool> added_up(const tape& t) const {
    vec<bool> r(t.values.size(), false);
    if (!adds_up) return r;
    for (int o : t.outputs) r[o] = true;
    for (int i = t.entries.size() - 1; i >= 0; --i) {
      const entry& e = t.entries[i];
      if (e.prim != &prim::add || !r[e.results[0]]) continue;
      for (int o : e.operands) r[o] = true;
    }
    return r;
  }
  /// The factors of a product that is added up over the lanes: those without the last axis before these, those without
  /// the one before that, and those without lanes.
  struct product_factors {
    vec<int> left, right, outside;
    bool guarded = false;
  };
  /// Those of x; none on the left or none on the right if its sum is no matrix product.
  constexpr product_factors factors_of(int x) {
    const shape s = b.shape(x);
    const int i = s.rank - 3, j = s.rank - 2, lanes = s.rank - 1;
    if (i < 0 || s[i] == 1 || s[j] == 1 || !is_floating(b.type(x).type)) return {};
    product_factors r;
    vec<int> all, both;
    const entry* e = b.definition(x);
    if (e && e->prim == &prim::azmul) {  // a zero wins over one factor, not over several
      r.guarded = true;
      for (int o : e->operands) all.push_back(before_broadcast(o));
    } else {
      add_factors(all, x);
    }
    for (int f : all) {
      const shape from = b.shape(f);
      if (from.rank != s.rank) return {};
      if (from[lanes] == 1 && from.size() > 1)
        r.outside.push_back(f);
      else if (from[i] > 1 && from[j] > 1)
        return {};
      else
        (from[i] > 1 ? r.left : from[j] > 1 ? r.right : both).push_back(f);
    }
    if (r.guarded && !r.outside.empty()) return {};
    if (!r.left.empty() && !r.right.empty()) (s[i] < s[j] ? r.left : r.right).append(both);
    return r;
  }
  constexpr bool is_product(int x) {
    const product_factors f = factors_of(x);
    return !f.left.empty() && !f.right.empty();
  }
  /// What was added up to x. There is a limit, since a sum of sums of itself has any number of them.
  [[nodiscard]] constexpr vec<int> terms_of(int x) const {
    constexpr int most_terms = 64;
    vec<int> terms{x};
    for (int i = 0; i < terms.size();) {
      const entry* e = b.definition(terms[i]);
      if (e && e->prim == &prim::add && terms.size() < most_terms) {
        terms[i] = e->operands[0];
        terms.push_back(e->operands[1]);
      } else {
        ++i;
      }
    }
    return terms;
  }
  /// The sum over the lanes of terms of which some are gradients of tables: these are made of their rows alone
  /// (emit::sum_of_scattered). -1 if none is.
  constexpr int sum_of_rows(const vec<int>& terms) {
    int rows = -1, others = -1;
    for (const int x : terms) {
      const int before = before_lanes(b, x), scattered = before < 0 ? -1 : emit::sum_of_scattered(b, before);
      if (scattered >= 0)
        rows = rows < 0 ? scattered : emit::add(b, rows, scattered);
      else
        others = others < 0 ? x : emit::add(b, others, x);
    }
    return rows < 0 || others < 0 ? rows : emit::add(b, rows, sum(others));
  }
  /// The padded entry that value x is, or null.
  [[nodiscard]] constexpr const entry* padded(int x) const {
    const entry* e = b.definition(x);
    return e && e->prim == &prim::pad ? e : nullptr;
  }
  /// Whether along some axis x and y are padded so that one has zeros where the other has none.
  [[nodiscard]] constexpr bool lie_apart(int x, int y) const {
    const entry *first = padded(x), *second = padded(y);
    if (!first || !second) return false;
    const prim::rules::pad::view p(*first), q(*second);
    const shape whole = b.shape(x);
    for (int axis = 0; axis < whole.rank; ++axis)
      if (whole[axis] - p.high(axis) <= q.low(axis) || whole[axis] - q.high(axis) <= p.low(axis)) return true;
    return false;
  }
  /// Whether these terms are products whose sums are matrix products, and those that are several lie apart.
  constexpr bool are_products_apart(const vec<int>& terms) {
    for (int i = 0; i < terms.size(); ++i) {
      for (int j = 0; j < i; ++j)
        if (!lie_apart(terms[i], terms[j])) return false;
      if (const entry* e = padded(terms[i])) {
        if (prim::rules::pad::view(*e).pads(b.shape(terms[i]).rank - 1)) return false;
        if (!are_products_apart(terms_of(e->operands[0]))) return false;
      } else if (!is_product(terms[i])) {
        return false;
      }
    }
    return true;
  }
  constexpr int sum_of_term(int x) {
    if (!padded(x)) return sum_of_product(x);
    const entry e = *padded(x);
    const prim::rules::pad::view zeros(e);
    const int rank = zeros.rank() - 1;
    return emit::pad(b, sum(e.operands[0]), zeros.lows.part(0, rank), zeros.highs.part(0, rank),
                     zeros.interiors.part(0, rank));
  }
  constexpr int sum_of_product(int x) {
    const product_factors f = factors_of(x);
    const shape s = b.shape(x), matrices = without_axis(s, s.rank - 1);
    const int column = product(f.left, s, s.rank - 2), row = product(f.right, s, s.rank - 3);
    int r = prim::rules::matmul::written(b, f.guarded ? prim::azmatmul : prim::matmul, column, row, false, true);
    for (int i : f.outside)
      r = emit::mul(b, r, emit::broadcast_to(b, emit::reshape(b, i, without_axis(b.shape(i), s.rank - 1)), matrices));
    return r;
  }
  constexpr int before_broadcast(int x) const {
    const entry* e = b.definition(x);
    return e && e->prim == &prim::broadcast_to ? e->operands[0] : x;
  }
  /// x as a product: the factors of its multiplications, before broadcasts. There is a limit, since each square doubles
  /// their number.
  constexpr void add_factors(vec<int>& to, int x) {
    constexpr int most_factors = 16;
    const entry* e = b.definition(x);
    if (e && e->prim == &prim::mul && to.size() < most_factors) {
      add_factors(to, e->operands[0]);
      add_factors(to, e->operands[1]);
    } else {
      to.push_back(before_broadcast(x));
    }
  }
  /// The product of factors that have all of the axes of s but this one, without it.
  constexpr int product(const vec<int>& f, const shape& s, int axis) {
    shape all = s;
    all[axis] = 1;
    int r = -1;
    for (int i : f) {
      const int x = emit::broadcast_to(b, i, all);
      r = r < 0 ? x : emit::mul(b, r, x);
    }
    return emit::reshape(b, r, without_axis(s, axis));
  }
  /// An entry of whose operands some are in lanes; `out` says which results are.
  constexpr vec<int> written(const entry& e, vec<int> o, const vec<bool>& on, vec<bool>& out, bool is_added_up) {
    if (e.prim->lanes) {
      vec<int> r = e.prim->lanes({b, e, o, on, n, out, is_added_up, constants, write_in_lanes});
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
                                           vec<bool>& lanes, int constants) {
    lane_writer w{b, n, false};
    for (int i = 1; i <= constants; ++i) w.constants.push_back(inputs[i]);
    return w.write(t, inputs, lanes);
  }
};

}  // namespace drx::plan
