// drx/plan/loops/invariants.hpp: moves values that depend on a loop's constants alone in front of the loop.
// Tested by tests/unit/plan/loops.cpp.
#pragma once

#include <drx/plan/loops/loop_writer.hpp>

namespace drx::plan {

/// Moves entries that depend on constants only in front of the loop, if their results are not larger than their
/// operands.
struct invariants : loop_writer {
  vec<int> outer;             // by value of the body: its name in front of the loop; -1 where it has none
  vec<std::int64_t> made_of;  // by value: elements in memory behind it

  using loop_writer::loop_writer;

  /// Whether an entry costs nothing: it is computed where it is read.
  static constexpr bool is_free(const entry& e) {
    return e.prim->role == role::virtual_ || e.prim->role == role::alias;
  }
  [[nodiscard]] constexpr bool all_outside(const entry& e) const {
    for (int o : e.operands)
      if (outer[o] < 0) return false;
    return true;
  }
  [[nodiscard]] constexpr bool moves(const entry& e) const {
    if (!e.regions.empty() || e.attrs.placement || e.results.size() != 1 || e.operands.empty() || !all_outside(e))
      return false;
    std::int64_t from = 0;
    for (int o : e.operands) from = made_of[o] > from ? made_of[o] : from;
    return body.values[e.results[0]].depth == 0 && body.values[e.results[0]].shape.size() <= from;
  }
  /// Whether run() would move anything.
  constexpr bool any() {
    outer = vec<int>(body.values.size(), -1);
    made_of = vec<std::int64_t>(body.values.size(), 0);
    for (int i = 1; i <= n.constants; ++i) begin_with(body.inputs[i], 0);
    for (const entry& e : body.entries) {
      if (!is_free(e) && moves(e)) return true;
      if (is_free(e) && all_outside(e)) follow(e, 0);
    }
    return false;
  }
  /// Sets a constant's name in front of the loop.
  constexpr void begin_with(int v, int name) {
    if (body.values[v].depth > 0) return;
    outer[v] = name;
    made_of[v] = body.values[v].shape.size();
  }
  constexpr void follow(const entry& e, int name) {
    const int r = e.results[0];
    outer[r] = name;
    for (int o : e.operands) made_of[r] = made_of[o] > made_of[r] ? made_of[o] : made_of[r];
    if (!is_free(e)) made_of[r] = body.values[r].shape.size();
  }
  constexpr int in_loop(int v) {
    int& name = inner.names[v];
    if (name < 0) name = constant(outer[v]);
    return name;
  }
  constexpr vec<int> run() {
    outer = vec<int>(body.values.size(), -1);
    made_of = vec<std::int64_t>(body.values.size(), 0);
    vec<int> inputs;
    for (int i = 0; i < body.inputs.size(); ++i) {
      const int v = body.inputs[i];
      inputs.push_back(inner.names[v] = inside.input(body.values[v]));
      if (is_constant(i)) begin_with(v, operands[i - 1]);
    }
    inner.write([&](const entry& e) {
      const bool free = is_free(e);
      if (free ? all_outside(e) : moves(e)) {
        follow(e, outside.add1(*e.prim, renamed(e.operands, outer), e.attrs));
        if (!free) return vec<int>();
      }
      for (int o : e.operands) in_loop(o);
      return inner.copied(e);
    });
    vec<int> outputs;
    for (int o : body.outputs) outputs.push_back(in_loop(o));
    return write(inputs, outputs);
  }
};

/// Whether a loop computes something that is the same at each step.
constexpr bool has_invariants(const entry& loop) {
  builder scratch;
  return invariants(scratch, loop, loop.regions[0], {}).any();
}

/// t with loops' invariants in front of them, in regions too.
constexpr tape with_invariants_in_front(tape t) {
  return with_loops(std::move(t), has_invariants,
                    [](builder& b, const entry& e, const tape& body, const vec<int>& operands) {
                      return invariants(b, e, body, operands).run();
                    });
}

}  // namespace drx::plan
