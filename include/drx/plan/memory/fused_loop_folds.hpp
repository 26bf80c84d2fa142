// drx/plan/memory/fused_loop_folds.hpp: makes sums and extrema over an axis that is not the last one, and sums over a
// short last one, parts of the fused loops that compute what is folded, and lets these loops read the rows of arrays
// that `take` chooses where they lie. What is only folded is then never stored.
// Tested by tests/unit/run/folds_of_loops.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/fused_loop_sums.hpp>

namespace drx::plan {

/// Whether loop s reads v, which is in memory, each element at its place.
constexpr bool reads_in_place(const steps_in_progress& g, int s, int v) {
  const int memory = g.root(v);
  if (!(g.definition(memory) < 0 || g.p.stored[memory])) return false;
  if (g.t.values[v].shape != g.shape_of_loop(g.loops[s])) return false;
  for (int e : g.loops[s])
    for (int i = 0; i < g.t.entries[e].operands.count; ++i)
      if (g.id(g.t.entries[e].operands, i) == v) return true;
  return false;
}
/// Whether a loop may take the sums of its rows: short ones of whole packs, and whole packs of them, which the kernel
/// of a sum adds up in the same order.
constexpr bool may_sum_rows(const shape& extents) {
  const std::int64_t row = extents.last(), rows = extents.size() / row;
  return row < machine::most_folded && row % machine::widest_vector == 0 && rows % machine::widest_vector == 0;
}
/// The axis over which step k folds a value that loop s computes, or reads, if it may run with the loop; else -1. (Sums
/// are added up in the order in which the kernel of a step adds them up.)
constexpr int folded_axis(const steps_in_progress& g, int s, int k) {
  const frozen_entry& x = g.t.entries[g.single(k)];
  if (x.prim != &prim::sum && x.prim != &prim::max_over && x.prim != &prim::min_over && x.prim != &prim::argmax &&
      x.prim != &prim::argmin)
    return -1;
  const int v = g.id(x.operands, 0);
  const bool is_made = g.root(v) == v && g.p.loop_of[v] == g.step0 + s;
  if (!is_made && !reads_in_place(g, s, v)) return -1;
  const prim::rules::over_axes::view over(g.t.attributes(x));
  const shape& extents = g.t.values[v].shape;
  const int axis = over.axes.number(0);
  if (over.axes.size() != 1 || extents.size() == 0 || extents[axis] > machine::most_folded) return -1;
  if (axis + 1 == extents.rank) return x.prim == &prim::sum && may_sum_rows(extents) ? axis : -1;
  const bool is_near = elements_below(extents, axis) <= machine::most_folded_columns;
  return is_near || extents[axis] <= machine::most_folded_far ? axis : -1;
}
/// Makes folds over one axis parts of the loops that compute what is folded: plain arithmetic, on rows that fill half a
/// vector at least. They join the sums of their loops. Returns, by loop, whether it has folds.
constexpr vec<bool> join_folds(steps_in_progress& g, vec<vec<int>>& sums, vec<bool>& taken) {
  const int steps = g.loops.size();
  vec<bool> has_folds(steps, false);
  for (int s = 0; s < steps; ++s) {
    if (!sums[s].empty() || !is_plain_arithmetic(g, g.loops[s])) continue;
    if (g.shape_of_loop(g.loops[s]).last() < machine::widest_vector / 2) continue;
    int axis = -1;
    for (int k = s + 1; k < steps; ++k) {
      if (!g.loops[k].empty() || taken[k]) continue;
      const int of_step = folded_axis(g, s, k);
      if (of_step < 0 || (axis >= 0 && of_step != axis)) continue;
      axis = of_step;
      taken[k] = has_folds[s] = true;
      sums[s].push_back(g.single(k));
    }
  }
  return has_folds;
}
/// Whether the only readers of rows that step k takes out of an array are loops with folds, each row at its place.
/// (What a loop folds beside what it computes, it reads as it lies in memory: its step, taken or not, has no folds.)
constexpr bool is_read_by_folds(const steps_in_progress& g, int k, const vec<bool>& has_folds) {
  const frozen_entry& x = g.t.entries[g.single(k)];
  if (x.prim != &prim::take) return false;
  const prim::rules::take::view rows(g.t.attributes(x));
  const int v = g.id(x.results, 0);
  if (rows.axis != 0 || rows.batch != 0 || g.t.values[g.id(x.operands, 0)].shape.rank != 2 || g.leaves(v)) return false;
  for (int s = 0; s < g.loops.size(); ++s) {
    if (!g.reads(s, v)) continue;
    if (!has_folds[s]) return false;
    for (int e : g.loops[s])
      for (int i = 0; i < g.t.entries[e].operands.count; ++i)
        if (const int o = g.id(g.t.entries[e].operands, i); o != v && g.w.touches(o, v)) return false;
  }
  return true;
}
/// Makes folds over an axis parts of the loops that compute what is folded, among their `sums`, and lets such loops
/// read rows where they lie. Returns, by loop, whether it has folds.
constexpr vec<bool> take_folds(steps_in_progress& g, vec<vec<int>>& sums) {
  const int steps = g.loops.size();
  vec<bool> taken(steps, false);
  const vec<bool> has_folds = join_folds(g, sums, taken);
  for (int s = 0; s < steps; ++s) {
    if (!has_folds[s]) continue;
    for (int e : g.loops[s]) {  // stored for its folds alone
      const int v = g.result(e);
      bool read = g.leaves(v);
      for (int k = 0; k < steps; ++k) read = read || (k != s && !taken[k] && g.reads(k, v));
      if (!read) g.p.stored[v] = false;
    }
  }
  for (int k = 0; k < steps; ++k)
    if (g.loops[k].empty() && !taken[k] && is_read_by_folds(g, k, has_folds)) {
      taken[k] = true;
      g.p.stored[g.id(g.t.entries[g.single(k)].results, 0)] = false;
    }
  vec<vec<int>> kept;
  vec<bool> with_folds;
  for (int s = 0; s < steps; ++s)
    if (!taken[s]) kept.push_back(sums[s]), with_folds.push_back(has_folds[s]);
  sums = kept;
  g.leave_out(taken);
  return with_folds;
}

}  // namespace drx::plan
