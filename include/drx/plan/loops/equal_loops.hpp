// drx/plan/loops/equal_loops.hpp: joins loops over the same operands whose carries agree into one loop that has the
// results of both. A member's value and its backward pass have such loops: the first keeps no residuals, the other
// those of its reverse sweep.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

constexpr tape with_equal_loops_joined(tape t);

/// One loop in place of two.
struct joined_loops {
  tape body;
  vec<int> extra;  // by result of the second loop: its result in the joined loop
  bool possible = false;

  constexpr joined_loops(const entry& first, const entry& second) {
    if (first.prim != &prim::scan || second.prim != &prim::scan || !(first.operands == second.operands)) return;
    const prim::rules::scan::view loop(first);
    if (!loop.takes_the_same_steps_as(prim::rules::scan::view(second))) return;
    const tape &one = first.regions[0], &other = second.regions[0];
    builder both;
    const vec<int> inputs = inputs_like(both, one);
    for (int o : inline_tape(both, one, inputs)) both.output(o);
    for (int o : inline_tape(both, other, inputs)) both.output(o);
    body = with_equal_loops_joined(both.result());
    const vec<int> outputs = body.outputs;
    const int n = one.outputs.size();
    for (int i = 0; i < loop.carries; ++i)
      if (outputs[i] != outputs[n + i]) return;
    body.outputs = {};
    for (int i = 0; i < n; ++i) body.outputs.push_back(outputs[i]);
    for (int i = 0; i < other.outputs.size(); ++i) {
      int at = i < loop.carries ? i : -1;
      for (int y = loop.carries; at < 0 && y < body.outputs.size(); ++y)
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

/// t with loops i and j joined.
constexpr tape with_joined(const tape& t, int i, int j, const joined_loops& loop) {
  vec<int> joined;  // the results of the one loop
  return rewritten(t, [&](rewriter& w, const entry& e) {
    if (&e == &t.entries[i]) return joined = w.copied(e, vec<tape>{loop.body});
    if (&e == &t.entries[j]) return renamed(loop.extra, joined);
    return w.copied(e);
  });
}

/// t with equal loops joined, also in the bodies of joined ones.
constexpr tape with_equal_loops_joined(tape t) {
  for (int j = 0; j < t.entries.size(); ++j)
    for (int i = 0; i < j; ++i) {
      if (t.entries[j].prim != &prim::scan || !(t.entries[i].operands == t.entries[j].operands)) continue;
      const joined_loops loop(t.entries[i], t.entries[j]);
      if (loop.possible)
        return with_equal_loops_joined(with_joined(t, i, j, loop));  // the readers of the two may be equal now
    }
  return t;
}

}  // namespace drx::plan
