// drx/plan/loops.hpp: what a loop's body need not do at each step. What depends on the loop's constants alone is computed in
// front of it. And matrices of a few columns (ten classes) lie transposed in the body where all that touches them can take
// them so: their rows are then whole packs, and sums over the columns run along them.
#pragma once

#include <drx/primitives/emit.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// A scan's operands and body while they are written anew. New constants go behind the old ones.
struct loop_writer {
  using parts = prim::rules::scan::parts;
  builder& outside;
  const entry& loop;
  const tape& body;
  vec<int> operands;  // on `outside`
  parts n;
  builder inside;
  vec<int> added, added_inputs;  // constants: their values on `outside`, their inputs of the body

  constexpr loop_writer(builder& b, const entry& e, const tape& region, const vec<int>& of)
      : outside(b), loop(e), body(region), operands(of), n(e.attrs, e.operands.size(), e.results.size()) {}

  [[nodiscard]] constexpr bool is_constant(int input) const { return input >= 1 && input <= n.constants; }
  /// The input of the body for one more constant.
  constexpr int constant(int value) {
    const int known = added.find(value);
    if (known >= 0) return added_inputs[known];
    added.push_back(value);
    added_inputs.push_back(inside.input(outside.type(value)));
    return added_inputs.back();
  }
  /// The loop over what was written; `inputs` are the body's first ones, `outputs` its results.
  constexpr vec<int> write(const vec<int>& inputs, const vec<int>& outputs) {
    tape region = inside.result();
    region.inputs = {};
    vec<int> all;
    for (int i = 0; i < inputs.size(); ++i) {
      region.inputs.push_back(inputs[i]);
      if (i > 0) all.push_back(operands[i - 1]);
      if (i == n.constants) {
        region.inputs.append(added_inputs);
        all.append(added);
      }
    }
    region.outputs = outputs;
    attributes a = loop.attrs;
    a.ints[2] += added.size();
    if (n.guard > n.constants) a.ints[4] += added.size();
    region = without_dead_entries(region);
    return outside.add(*loop.prim, all, a, vec<tape>{region});
  }
};

/// Moves what depends on constants only in front of the loop, where it is not larger than what it is made of.
struct invariants : loop_writer {
  vec<int> outer, inner;  // by value of the body: its name in front of the loop, and in the loop; -1 where it has none
  vec<std::int64_t> made_of;  // by value: elements in memory behind it

  using loop_writer::loop_writer;

  /// Entries that are no work: they are written where they are read.
  static constexpr bool is_free(const entry& e) {
    return e.prim == &prim::constant || e.prim == &prim::iota || e.prim == &prim::broadcast_to || e.prim == &prim::reshape;
  }
  [[nodiscard]] constexpr bool all_outside(const entry& e) const {
    for (int o : e.operands)
      if (outer[o] < 0) return false;
    return true;
  }
  [[nodiscard]] constexpr bool moves(const entry& e) const {
    if (!e.regions.empty() || e.attrs.placement || e.results.size() != 1 || e.operands.empty() || !all_outside(e)) return false;
    std::int64_t from = 0;
    for (int o : e.operands) from = made_of[o] > from ? made_of[o] : from;
    return body.values[e.results[0]].depth == 0 && body.values[e.results[0]].shape.size() <= from;
  }
  constexpr int in_loop(int v) {
    if (inner[v] < 0) inner[v] = constant(outer[v]);
    return inner[v];
  }
  constexpr vec<int> run() {
    outer = inner = vec<int>(body.values.size(), -1);
    made_of = vec<std::int64_t>(body.values.size(), 0);
    vec<int> inputs;
    for (int i = 0; i < body.inputs.size(); ++i) {
      const int v = body.inputs[i];
      inputs.push_back(inner[v] = inside.input(body.values[v]));
      if (!is_constant(i) || body.values[v].depth > 0) continue;
      outer[v] = operands[i - 1];
      made_of[v] = body.values[v].shape.size();
    }
    for (const entry& e : body.entries) {
      const bool free = is_free(e);
      if (free ? all_outside(e) : moves(e)) {
        outer[e.results[0]] = outside.add1(*e.prim, renamed(e.operands, outer), e.attrs);
        for (int o : e.operands) made_of[e.results[0]] = made_of[o] > made_of[e.results[0]] ? made_of[o] : made_of[e.results[0]];
        if (!free) made_of[e.results[0]] = body.values[e.results[0]].shape.size();
        if (!free) continue;
      }
      vec<int> from;
      for (int o : e.operands) from.push_back(in_loop(o));
      const vec<int> results = inside.add(*e.prim, from, e.attrs, e.regions);
      for (int i = 0; i < results.size(); ++i) inner[e.results[i]] = results[i];
    }
    vec<int> outputs;
    for (int o : body.outputs) outputs.push_back(in_loop(o));
    return write(inputs, outputs);
  }
};

/// Writes a loop whose body holds its narrow matrices transposed.
struct turned_loop : loop_writer {
  vec<int> plain, turned;  // by value of the body: its names; -1 where it has none
  bool useful = false;     // a product of matrices is of narrow ones
  bool possible = true;    // nothing is transposed at each step

  using loop_writer::loop_writer;

  /// Few columns, and rows that are whole packs of all targets.
  static constexpr bool is_narrow(const abstract_value& t) {
    const shape& s = t.shape;
    return t.depth == 0 && s.rank == 2 && s[1] > 1 && s[1] < 16 && s[0] >= 32 && s[0] % 16 == 0;
  }
  [[nodiscard]] constexpr bool narrow(int v) const { return is_narrow(body.values[v]); }
  static constexpr abstract_value turn(const abstract_value& t) {
    shape s = t.shape;
    s[s.rank - 2] = t.shape[t.shape.rank - 1];
    s[s.rank - 1] = t.shape[t.shape.rank - 2];
    return t.with_shape(s);
  }
  /// x with its last two axes exchanged, on `outside`.
  constexpr int exchanged(int x) {
    if (outside.shape(x).rank == 2) return emit::transpose(outside, x, {1, 0});
    return emit::transpose(outside, x, {0, 2, 1});
  }

  constexpr int as_plain(int v) {
    if (plain[v] < 0) {
      possible = false;
      plain[v] = emit::transpose(inside, turned[v], {1, 0});
    }
    return plain[v];
  }
  constexpr int as_turned(int v) {
    if (turned[v] < 0) {
      const int input = body.inputs.find(v);
      if (is_constant(input)) {
        turned[v] = constant(exchanged(operands[input - 1]));
      } else {
        possible = false;
        turned[v] = emit::transpose(inside, plain[v], {1, 0});
      }
    }
    return turned[v];
  }

  constexpr int product(const entry& e, bool result_turned) {
    int x[2] = {};
    bool flag[2] = {};
    for (int i = 0; i < 2; ++i) {
      const bool other = narrow(e.operands[i]);
      x[i] = other ? as_turned(e.operands[i]) : as_plain(e.operands[i]);
      flag[i] = (e.attrs.ints[i] != 0) != other;
    }
    useful = true;
    if (result_turned) return emit::matmul(inside, x[1], x[0], !flag[1], !flag[0]);
    return emit::matmul(inside, x[0], x[1], flag[0], flag[1]);
  }
  /// A narrow result, or -1 where it can only be had plain.
  constexpr int narrow_result(const entry& e) {
    const abstract_value to = turn(body.values[e.results[0]]);
    if (e.prim->elementwise || e.prim == &prim::cast || e.prim == &prim::stop_gradient) {
      vec<int> from;
      for (int o : e.operands) from.push_back(as_turned(o));
      return inside.add1(*e.prim, from, e.attrs);
    }
    if (e.prim == &prim::constant) return emit::constant(inside, to, e.attrs.number);
    if (e.prim == &prim::matmul) return product(e, true);
    if (e.prim == &prim::transpose) return as_plain(e.operands[0]);
    if (e.prim == &prim::broadcast_to) {
      const shape from = body.values[e.operands[0]].shape;
      const int x = as_plain(e.operands[0]);
      if (from.size() == 1) return emit::broadcast_to(inside, emit::reshape(inside, x, {}), to.shape);
      const bool column = from.rank == 2 && from[1] == 1;
      return emit::broadcast_to(inside, emit::reshape(inside, x, column ? make_shape(1, from[0]) : make_shape(from.last(), 1)), to.shape);
    }
    return -1;
  }
  /// A result that is not narrow of operands that are, or -1.
  constexpr int from_narrow(const entry& e) {
    bool any = false;
    for (int o : e.operands) any = any || narrow(o);
    if (!any || e.results.size() != 1) return -1;
    if (e.prim == &prim::matmul) return product(e, false);
    if (e.prim == &prim::transpose) return as_turned(e.operands[0]);
    if (e.prim == &prim::sum || e.prim == &prim::max_over || e.prim == &prim::min_over) {
      attributes a = e.attrs;
      if (a.ints.size() == 1) a.ints[0] = 1 - a.ints[0];
      return inside.add1(*e.prim, {as_turned(e.operands[0])}, a);
    }
    return -1;
  }

  /// The results, on `outside`; none where the loop stays as it is.
  constexpr vec<int> run() {
    plain = turned = vec<int>(body.values.size(), -1);
    vec<int> inputs, outputs;
    for (int i = 0; i < body.inputs.size(); ++i) {
      const int v = body.inputs[i];
      const bool turns = narrow(v) && i > n.constants;
      (turns ? turned : plain)[v] = inside.input(turns ? turn(body.values[v]) : body.values[v]);
      inputs.push_back(turns ? turned[v] : plain[v]);
      if (turns) operands[i - 1] = exchanged(operands[i - 1]);
    }
    for (const entry& e : body.entries) {
      const bool to_narrow = e.results.size() == 1 && narrow(e.results[0]);
      const int r = to_narrow ? narrow_result(e) : from_narrow(e);
      if (r >= 0) {
        (to_narrow ? turned : plain)[e.results[0]] = r;
        continue;
      }
      vec<int> from;
      for (int o : e.operands) from.push_back(as_plain(o));
      const vec<int> results = inside.add(*e.prim, from, e.attrs, e.regions);
      for (int i = 0; i < results.size(); ++i) plain[e.results[i]] = results[i];
    }
    for (int o : body.outputs) outputs.push_back(narrow(o) ? as_turned(o) : as_plain(o));
    if (!useful || !possible) return {};
    vec<int> r = write(inputs, outputs);
    for (int i = 0; i < r.size(); ++i)
      if (narrow(body.outputs[i])) r[i] = exchanged(r[i]);
    return r;
  }
};

constexpr bool holds_narrow_products(const tape& t) {
  for (const entry& e : t.entries)
    if (e.prim == &prim::matmul && e.operands.size() == 2)
      for (int v : {e.operands[0], e.operands[1], e.results[0]})
        if (turned_loop::is_narrow(t.values[v])) return true;
  return false;
}
constexpr bool is_scan(const entry& e) { return e.prim == &prim::scan; }
constexpr bool has_scans(const tape& t) { return any_entry(t, is_scan); }

/// t with less work in its loops, in regions too.
constexpr tape with_lighter_loops(const tape& t) {
  if (!has_scans(t)) return t;
  builder b;
  vec<int> names(t.values.size(), -1);
  for (int i : t.inputs) names[i] = b.input(t.values[i]);
  for (const entry& e : t.entries) {
    const vec<int> operands = renamed(e.operands, names);
    vec<tape> regions;
    for (const tape& r : e.regions) regions.push_back(with_lighter_loops(r));
    vec<int> results;
    if (is_scan(e) && holds_narrow_products(regions[0])) {
      builder scratch;  // of which nothing stays where the loop cannot be turned
      vec<int> copies;
      for (int o : operands) copies.push_back(scratch.input(b.type(o)));
      if (!turned_loop(scratch, e, regions[0], copies).run().empty()) results = turned_loop(b, e, regions[0], operands).run();
    }
    if (results.empty()) results = b.add(*e.prim, operands, e.attrs, regions);
    for (int i = 0; i < e.results.size(); ++i) names[e.results[i]] = results[i];
  }
  for (int o : t.outputs) b.output(names[o]);
  return without_dead_entries(b.result());
}

/// t with what is the same at each step of a loop in front of it, in regions too.
constexpr tape with_invariants_in_front(const tape& t) {
  if (!has_scans(t)) return t;
  builder b;
  vec<int> names(t.values.size(), -1);
  for (int i : t.inputs) names[i] = b.input(t.values[i]);
  for (const entry& e : t.entries) {
    const vec<int> operands = renamed(e.operands, names);
    vec<tape> regions;
    for (const tape& r : e.regions) regions.push_back(with_invariants_in_front(r));
    vec<int> results;
    if (is_scan(e)) {
      results = invariants(b, e, regions[0], operands).run();
    } else {
      results = b.add(*e.prim, operands, e.attrs, regions);
    }
    for (int i = 0; i < e.results.size(); ++i) names[e.results[i]] = results[i];
  }
  for (int o : t.outputs) b.output(names[o]);
  return without_dead_entries(b.result());
}

}  // namespace drx::plan
