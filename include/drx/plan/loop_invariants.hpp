// drx/plan/loop_invariants.hpp: what depends on a loop's constants alone is computed in front of the loop, not at each step.
#pragma once

#include <drx/plan/loops.hpp>

namespace drx::plan {

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

/// t with what is the same at each step of a loop in front of it, in regions too.
constexpr tape with_invariants_in_front(const tape& t) {
  return with_loops(t, [](builder& b, const entry& e, const tape& body, const vec<int>& operands) { return invariants(b, e, body, operands).run(); });
}

}  // namespace drx::plan
