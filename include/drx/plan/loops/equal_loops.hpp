// drx/plan/loops/equal_loops.hpp: joins two loops that have carries in common into one loop that has the results of both.
// A member's value and its backward pass have such loops: the first keeps no residuals, the other those of its reverse
// sweep, which need not have a sum that the value is. So have its value and its tangents.
// Tested by tests/unit/plan/equal_loops.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

#include <algorithm>

namespace drx::plan {

constexpr tape with_equal_loops_joined(tape t);

/// One loop in place of two.
struct joined_loops {
  tape body;
  attributes attrs;
  vec<int> operands;   // of both, as the tape calls them
  vec<int> of_second;  // by result of the second loop: its result in the joined loop; the first loop's come in order
  vec<int> of_first;   // by result of the first loop
  bool possible = false;

  constexpr joined_loops(const entry& first, const entry& second) {
    if (first.prim != &prim::scan || second.prim != &prim::scan) return;
    const prim::rules::scan::view one(first), other(second);
    if (!take_the_same_steps(first, second)) return;
    vec<int> pair(other.carries, -1);  // by carry of the second loop: the equal one of the first
    for (int k = 0, from = 0; k < other.carries; ++k) {
      const int at = place(first.operands, second.operands[other.constants + k], one.constants + from, one.first_x());
      if (at < 0) continue;
      pair[k] = at - one.constants;
      from = pair[k] + 1;
    }
    const auto may_be_joined = [&] {
      if (one.guarding_carry()) return pair[*other.guarding_carry()] == *one.guarding_carry();  // both end at once
      return std::any_of(pair.begin(), pair.end(), [](int k) { return k >= 0; });
    };
    while (may_be_joined() && !join(first, second, pair)) {
    }
  }

 private:
  static constexpr bool take_the_same_steps(const entry& first, const entry& second) {
    const prim::rules::scan::view one(first);
    prim::rules::scan::view other(second);
    if (one.guard.has_value() != other.guard.has_value()) return false;
    if (one.guard) {  // by the number of an input
      const int a = *one.guard - 1, b = *other.guard - 1;
      if (first.operands[a] != second.operands[b]) return false;
      if (one.is_constant(a) != other.is_constant(b) || one.is_carry(a) != other.is_carry(b)) return false;
    }
    other.guard = one.guard;
    other.constants = one.constants;
    other.carries = one.carries;
    return one.takes_the_same_steps_as(other);
  }
  /// Where x is among operands `from` to `end` - 1; else -1.
  static constexpr int place(const vec<int>& operands, int x, int from, int end) {
    for (int k = from; k < end; ++k)
      if (operands[k] == x) return k;
    return -1;
  }
  /// Joins the loops if carries that were paired are equal at each step; else those that are not are no pairs any more.
  constexpr bool join(const entry& first, const entry& second, vec<int>& pair) {
    prim::rules::scan::view joined(first);
    const prim::rules::scan::view one(first), other(second);
    const int begin[] = {0, one.constants, one.first_x(), first.operands.size()};
    const int own[] = {0, other.constants, other.first_x(), second.operands.size()};
    operands = {};
    vec<int> of_one, of_other;  // by operand of a loop: the joined loop's
    for (int kind = 0; kind < 3; ++kind) {
      const int from = operands.size();
      for (int k = begin[kind]; k < begin[kind + 1]; ++k) {
        of_one.push_back(operands.size());
        operands.push_back(first.operands[k]);
      }
      for (int k = own[kind]; k < own[kind + 1]; ++k) {
        const int paired = kind == 1 ? pair[k - own[1]] : -1;
        int at = paired >= 0 ? from + paired : -1;
        if (kind != 1) at = place(operands, second.operands[k], from, operands.size());
        if (at < 0) {
          at = operands.size();
          operands.push_back(second.operands[k]);
        }
        of_other.push_back(at);
      }
      if (kind == 0) joined.constants = operands.size();
      if (kind == 1) joined.carries = operands.size() - joined.constants;
    }
    const tape &a = first.regions[0], &b = second.regions[0];
    builder both;
    vec<int> inputs(1 + operands.size(), -1), in_a, in_b;
    inputs[0] = both.input(a.values[a.inputs[0]]);  // the number of the step
    for (int at = 0; at < operands.size(); ++at) {
      const int k = place(of_one, at, 0, of_one.size()), l = place(of_other, at, 0, of_other.size());
      inputs[1 + at] = both.input(k >= 0 ? a.values[a.inputs[1 + k]] : b.values[b.inputs[1 + l]]);
    }
    in_a.push_back(inputs[0]), in_b.push_back(inputs[0]);
    for (int at : of_one) in_a.push_back(inputs[1 + at]);
    for (int at : of_other) in_b.push_back(inputs[1 + at]);
    for (int o : inline_tape(both, a, in_a)) both.output(o);
    for (int o : inline_tape(both, b, in_b)) both.output(o);
    if (one.guard) joined.guard = 1 + of_one[*one.guard - 1];
    body = with_equal_loops_joined(both.result());
    const vec<int> out = body.outputs;
    const int n = a.outputs.size();
    bool equal = true;
    for (int k = 0; k < other.carries; ++k)
      if (pair[k] >= 0 && out[pair[k]] != out[n + k]) {
        pair[k] = -1;
        equal = false;
      }
    if (!equal) return false;
    body.outputs = {};
    of_first = {}, of_second = {};
    const auto result = [&](int o, bool is_carry) {  // equal stacks are one
      int at = -1;
      if (!is_carry) at = place(body.outputs, o, joined.carries, body.outputs.size());
      if (at >= 0) return at;
      body.outputs.push_back(o);
      return body.outputs.size() - 1;
    };
    for (int k = 0; k < one.carries; ++k) of_first.push_back(result(out[k], true));
    for (int k = 0; k < other.carries; ++k) of_second.push_back(pair[k] >= 0 ? pair[k] : result(out[n + k], true));
    for (int k = one.carries; k < n; ++k) of_first.push_back(result(out[k], false));
    for (int k = n + other.carries; k < out.size(); ++k) of_second.push_back(result(out[k], false));
    joined.keeps_residuals = one.keeps_residuals || other.keeps_residuals;
    attrs = joined.make();
    return possible = true;
  }
};

/// Which of the entries i + 1 to j - 1 entry j depends on; none and `possible` false if it depends on entry i.
struct needed_between {
  vec<bool> entries;
  bool possible = true;

  constexpr needed_between(const tape& t, int i, int j) : entries(t.entries.size(), false) {
    vec<bool> values(t.values.size(), false);
    for (int o : t.entries[j].operands) values[o] = true;
    for (int k = j - 1; k >= i; --k) {
      for (int r : t.entries[k].results) entries[k] = entries[k] || values[r];
      if (entries[k])
        for (int o : t.entries[k].operands) values[o] = true;
    }
    possible = !entries[i];
  }
};
/// t with loops i and j joined where i is.
constexpr tape with_joined(const tape& t, int i, int j, const joined_loops& loop, const needed_between& needed) {
  return rewritten(t, [&](rewriter& w, const entry& e) {
    const auto k = static_cast<int>(&e - &t.entries[0]);
    if (k == j || needed.entries[k]) return renamed(e.results, w.names);  // it is written already
    if (k != i) return w.copied(e);
    for (int before = i + 1; before < j; ++before)
      if (needed.entries[before]) w.name(t.entries[before], w.copied(t.entries[before]));
    const vec<int> joined = w.b.add(*e.prim, renamed(loop.operands, w.names), loop.attrs, one_region(loop.body));
    w.name(t.entries[j], renamed(loop.of_second, joined));
    return renamed(loop.of_first, joined);
  });
}

/// t with equal loops joined, also in the bodies of joined ones.
constexpr tape with_equal_loops_joined(tape t) {
  for (int j = 0; j < t.entries.size(); ++j)
    for (int i = 0; i < j; ++i) {  // (where two are joined, their readers may be equal now)
      if (t.entries[i].prim != &prim::scan || t.entries[j].prim != &prim::scan) continue;
      const needed_between needed(t, i, j);
      if (!needed.possible) continue;
      const joined_loops loop(t.entries[i], t.entries[j]);
      if (loop.possible) return with_equal_loops_joined(with_joined(t, i, j, loop, needed));
    }
  return t;
}

}  // namespace drx::plan
