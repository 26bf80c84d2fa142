// drx/plan/loops/equal_loops.hpp: joins a loop with one before it that has the same carries, and perhaps more, into one
// loop that has the results of both. A member's value and its backward pass have such loops: the first keeps no
// residuals, the other those of its reverse sweep, which need not have a sum that the value is.
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
    if (first.prim != &prim::scan || second.prim != &prim::scan) return;
    const prim::rules::scan::view loop(first), fewer(second);
    const vec<int> place = places(first, second);
    if (place.size() < second.operands.size()) return;
    const tape &one = first.regions[0], &other = second.regions[0];
    builder both;
    const vec<int> inputs = inputs_like(both, one);
    vec<int> of_other{inputs[0]};  // the number of the step, then the operands
    for (int at : place) of_other.push_back(inputs[1 + at]);
    for (int o : inline_tape(both, one, inputs)) both.output(o);
    for (int o : inline_tape(both, other, of_other)) both.output(o);
    body = with_equal_loops_joined(both.result());
    const vec<int> outputs = body.outputs;
    const int n = one.outputs.size();
    const auto carry = [&](int i) { return place[fewer.constants + i] - loop.constants; };
    for (int i = 0; i < fewer.carries; ++i)
      if (outputs[carry(i)] != outputs[n + i]) return;
    body.outputs = {};
    for (int i = 0; i < n; ++i) body.outputs.push_back(outputs[i]);
    for (int i = 0; i < other.outputs.size(); ++i) {
      int at = i < fewer.carries ? carry(i) : -1;
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
  /// For each operand of `second` the one of `first` that takes its place: the same constants and stacks, and the same
  /// carries in their order. Fewer, where one is missing or the loops take other steps.
  static constexpr vec<int> places(const entry& first, const entry& second) {
    const prim::rules::scan::view loop(first);
    prim::rules::scan::view fewer(second);
    vec<int> r;
    const int begin[] = {0, loop.constants, loop.first_x(), first.operands.size()};
    const int own[] = {0, fewer.constants, fewer.first_x(), second.operands.size()};
    const bool guarded = loop.guard || fewer.guard;  // by the number of an input
    if (guarded && !(first.operands == second.operands)) return r;
    fewer.constants = loop.constants;
    fewer.carries = loop.carries;
    if (!loop.takes_the_same_steps_as(fewer)) return r;
    for (int kind = 0; kind < 3; ++kind) {
      int from = begin[kind];
      for (int k = own[kind]; k < own[kind + 1]; ++k) {
        int at = from;
        while (at < begin[kind + 1] && first.operands[at] != second.operands[k]) ++at;
        if (at == begin[kind + 1]) return r;
        r.push_back(at);
        if (kind == 1) from = at + 1;
      }
    }
    return r;
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
      const joined_loops loop(t.entries[i], t.entries[j]);
      if (loop.possible)
        return with_equal_loops_joined(with_joined(t, i, j, loop));  // the readers of the two may be equal now
    }
  return t;
}

}  // namespace drx::plan
