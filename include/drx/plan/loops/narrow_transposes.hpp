// drx/plan/loops/narrow_transposes.hpp: matrices of a few columns (ten classes) lie transposed in a loop's body if all
// their uses allow it: their rows are then whole packs, and sums over the columns run along them.
// Tested by tests/unit/plan/loops.cpp.
#pragma once

#include <drx/plan/loops/loop_writer.hpp>
#include <drx/plan/machine.hpp>

namespace drx::plan {

/// Writes a loop whose body holds its narrow matrices transposed.
struct loop_with_transposes : loop_writer {
  vec<int>& plain = inner.names;
  vec<int> transposed =
      vec<int>(body.values.size(), -1);  // by value of the body: its name transposed; -1 where it has none
  bool useful = false;                   // some matrix product has narrow operands
  bool possible = true;                  // no step transposes anything

  using loop_writer::loop_writer;

  /// Whether a matrix has few columns, and its number of rows is a multiple of all targets' packs.
  static constexpr bool is_narrow(const abstract_value& t) {
    const shape& s = t.shape;
    return t.depth == 0 && s.rank == 2 && s[1] > 1 && s[1] < machine::widest_vector &&
           s[0] >= machine::least_transposed_rows && s[0] % machine::widest_vector == 0;
  }
  [[nodiscard]] constexpr bool narrow(int v) const { return is_narrow(body.values[v]); }
  static constexpr abstract_value transposed_type(const abstract_value& t) {
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
      plain[v] = emit::transpose(inside, transposed[v], {1, 0});
    }
    return plain[v];
  }
  constexpr int as_transposed(int v) {
    if (transposed[v] < 0) {
      const int input = body.inputs.find(v);
      if (is_constant(input)) {
        transposed[v] = constant(exchanged(operands[input - 1]));
      } else {
        possible = false;
        transposed[v] = emit::transpose(inside, plain[v], {1, 0});
      }
    }
    return transposed[v];
  }

  constexpr int product(const entry& e, bool result_transposed) {
    int x[2] = {};
    bool flag[2] = {};
    for (int i = 0; i < 2; ++i) {
      const bool other = narrow(e.operands[i]);
      x[i] = other ? as_transposed(e.operands[i]) : as_plain(e.operands[i]);
      flag[i] = prim::rules::matmul::view(e).transposes(i) != other;
    }
    useful = true;
    if (result_transposed) return emit::matmul(inside, x[1], x[0], !flag[1], !flag[0]);
    return emit::matmul(inside, x[0], x[1], flag[0], flag[1]);
  }
  /// The transposed result of an entry with a narrow result, or -1 if only the plain one can be had.
  constexpr int narrow_result(const entry& e) {
    const abstract_value to = transposed_type(body.values[e.results[0]]);
    if (e.prim->pointwise) {
      vec<int> from;
      for (int o : e.operands) from.push_back(as_transposed(o));
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
      return emit::broadcast_to(
          inside, emit::reshape(inside, x, column ? make_shape(1, from[0]) : make_shape(from.last(), 1)), to.shape);
    }
    return -1;
  }
  /// The result of an entry with narrow operands whose result is not narrow, or -1.
  constexpr int from_narrow(const entry& e) {
    bool any = false;
    for (int o : e.operands) any = any || narrow(o);
    if (!any || e.results.size() != 1) return -1;
    if (e.prim == &prim::matmul) return product(e, false);
    if (e.prim == &prim::transpose) return as_transposed(e.operands[0]);
    if (prim::is_fold(e.prim)) {
      vec<std::int64_t> axes = prim::rules::over_axes::view(e).axes;
      if (axes.size() == 1) axes = {1 - axes.back()};
      return emit::over_axes(inside, *e.prim, as_transposed(e.operands[0]), axes);
    }
    return -1;
  }

  /// The results, on `outside`; none if the loop stays as it is.
  constexpr vec<int> run() {
    vec<int> inputs, outputs;
    for (int i = 0; i < body.inputs.size(); ++i) {
      const int v = body.inputs[i];
      const bool is_narrow_carry = narrow(v) && i > n.constants;
      (is_narrow_carry ? transposed : plain)[v] =
          inside.input(is_narrow_carry ? transposed_type(body.values[v]) : body.values[v]);
      inputs.push_back(is_narrow_carry ? transposed[v] : plain[v]);
      if (is_narrow_carry) operands[i - 1] = exchanged(operands[i - 1]);
    }
    inner.write([this](const entry& e) {
      const bool to_narrow = e.results.size() == 1 && narrow(e.results[0]);
      const int r = to_narrow ? narrow_result(e) : from_narrow(e);
      if (r < 0) {
        for (int o : e.operands) as_plain(o);
        return inner.copied(e);
      }
      if (!to_narrow) return vec<int>{r};
      transposed[e.results[0]] = r;
      return vec<int>();
    });
    for (int o : body.outputs) outputs.push_back(narrow(o) ? as_transposed(o) : as_plain(o));
    if (!useful || !possible) return {};
    vec<int> r = write(inputs, outputs);
    for (int i = 0; i < r.size(); ++i)
      if (narrow(body.outputs[i])) r[i] = exchanged(r[i]);
    return r;
  }
};

constexpr bool holds_narrow_products(const entry& loop) {
  const tape& t = loop.regions[0];
  for (const entry& e : t.entries)
    if (e.prim == &prim::matmul && e.operands.size() == 2)
      for (int v : {e.operands[0], e.operands[1], e.results[0]})
        if (loop_with_transposes::is_narrow(t.values[v])) return true;
  return false;
}

/// t with narrow matrices transposed in its loops, in regions too.
constexpr tape with_narrow_transposes(tape t) {
  return with_loops(std::move(t), holds_narrow_products,
                    [](builder& b, const entry& e, const tape& body, const vec<int>& operands) {
                      vec<int> results;
                      builder scratch;  // dropped if the loop cannot be transposed
                      vec<int> copies;
                      for (int o : operands) copies.push_back(scratch.input(b.type(o)));
                      if (!loop_with_transposes(scratch, e, body, copies).run().empty())
                        results = loop_with_transposes(b, e, body, operands).run();
                      return results;
                    });
}

}  // namespace drx::plan
