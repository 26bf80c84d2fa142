// drx/plan/equal_loops.hpp: loops over the same operands whose carries go the same way are one loop that gives what each of them gives. A member's value
// and its way back have such loops: the first keeps nothing, the other what its reverse sweep needs.
#pragma once

#include <drx/primitives/emit.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

constexpr tape with_equal_loops_joined(const tape& t);

/// One loop in the place of two.
struct joined_loops {
  tape body;
  vec<int> extra;  // by result of the second loop: which result of the joined loop it is
  bool possible = false;

  constexpr joined_loops(const entry& first, const entry& second) {
    const auto &a = first.attrs.ints, &b = second.attrs.ints;
    if (first.prim != &prim::scan || second.prim != &prim::scan || !(first.operands == second.operands)) return;
    for (int i = 0; i < 5; ++i)
      if (a[i] != b[i]) return;
    const tape &one = first.regions[0], &other = second.regions[0];
    builder both;
    const vec<int> inputs = inputs_like(both, one);
    for (int o : inline_tape(both, one, inputs)) both.output(o);
    for (int o : inline_tape(both, other, inputs)) both.output(o);
    body = with_equal_loops_joined(both.result());
    const vec<int> outputs = body.outputs;
    const int n = one.outputs.size();
    for (int i = 0; i < a[3]; ++i)
      if (outputs[i] != outputs[n + i]) return;
    body.outputs = {};
    for (int i = 0; i < n; ++i) body.outputs.push_back(outputs[i]);
    for (int i = 0; i < other.outputs.size(); ++i) {
      int at = i < a[3] ? i : -1;
      for (int y = static_cast<int>(a[3]); at < 0 && y < body.outputs.size(); ++y)
        if (body.outputs[y] == outputs[n + i]) at = y;
      if (at < 0) {
        at = body.outputs.size();
        body.outputs.push_back(outputs[n + i]);
      }
      extra.push_back(at);
    }
    possible = true;
  }
};

/// t with equal loops joined, in loops too. (Others' regions are joined when they are staged.)
constexpr tape with_equal_loops_joined(const tape& t) {
  int loops = 0;
  for (const entry& e : t.entries) loops += e.prim == &prim::scan;
  if (loops < 2) return t;
  tape joined = t;
  for (bool changed = true; changed;) {
    changed = false;
    for (int j = 0; j < joined.entries.size() && !changed; ++j)
      for (int i = 0; i < j && !changed; ++i) {
        if (joined.entries[j].prim != &prim::scan || !(joined.entries[i].operands == joined.entries[j].operands)) continue;
        const joined_loops loop(joined.entries[i], joined.entries[j]);
        if (!loop.possible) continue;
        builder b;
        vec<int> names(joined.values.size(), -1), results;
        for (int v : joined.inputs) names[v] = b.input(joined.values[v]);
        for (int k = 0; k < joined.entries.size(); ++k) {
          const entry& e = joined.entries[k];
          if (k == j) {
            for (int r = 0; r < e.results.size(); ++r) names[e.results[r]] = results[loop.extra[r]];
            continue;
          }
          vec<tape> regions = e.regions;
          if (k == i) regions[0] = loop.body;
          const vec<int> made = b.add(*e.prim, renamed(e.operands, names), e.attrs, regions);
          if (k == i) results = made;
          for (int r = 0; r < e.results.size(); ++r) names[e.results[r]] = made[r];
        }
        for (int o : joined.outputs) b.output(names[o]);
        joined = without_dead_entries(b.result());
        changed = true;
      }
  }
  return joined;
}

}  // namespace drx::plan
