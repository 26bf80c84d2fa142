// drx/plan/memory/fused_loop_sums.hpp: makes sums over rows parts of the fused loops that compute or read the summed values.
// Tested by tests/unit/run/sums_of_loops.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/fused_loop_order.hpp>

namespace drx::plan {

/// Whether a loop is plain arithmetic in one floating type, which packs can do.
constexpr bool is_plain_arithmetic(const steps_in_progress& g, const vec<int>& loop) {
  if (loop.empty() || !g.may_follow_product(loop)) return false;
  const dtype type = g.t.values[g.result(loop[0])].type;
  for (int e : loop) {
    const primitive* prim = g.t.entries[e].prim;
    if (prim != &prim::add && prim != &prim::sub && prim != &prim::mul && prim != &prim::azmul && prim != &prim::neg)
      return false;
    if (g.t.values[g.result(e)].type != type) return false;
  }
  return is_floating(type);
}
/// Whether a loop is plain arithmetic on rows of whole packs.
constexpr bool may_have_sums(const steps_in_progress& g, const vec<int>& loop) {
  if (!is_plain_arithmetic(g, loop)) return false;
  const shape extents = g.shape_of_loop(loop);
  return extents.rank == 2 && extents[0] >= machine::least_summed_rows && extents[0] <= machine::most_summed_rows &&
         extents[1] % machine::widest_vector == 0;
}
/// Whether step k is a sum over the rows of a value that loop s computes, or reads at its place, and may run with the
/// loop. `runs_in`, by step: where it runs, by itself or in the loop that has taken it.
constexpr bool is_sum_of(const steps_in_progress& g, int s, int k, const vec<int>& runs_in) {
  const frozen_entry& x = g.t.entries[g.single(k)];
  const bool weighted = x.prim == &prim::matmul;
  if (!weighted && x.prim != &prim::sum) return false;
  const int v = g.id(x.operands, 0), made = g.id(x.results, 0);
  const shape extents = g.shape_of_loop(g.loops[s]);
  if (g.root(v) != v || g.t.values[v].shape != extents ||
      g.t.values[v].type != g.t.values[g.result(g.loops[s][0])].type)
    return false;
  if (g.t.values[made].shape.size() != extents[1]) return false;
  if (weighted) {
    const product_extents product = extents_of(g.t, x);
    const int weights = g.root(g.id(x.operands, 1));
    if (!product.tx || product.ty || product.n != 1 || (g.definition(weights) >= 0 && !g.p.stored[weights]))
      return false;
    for (int i = 0; i < g.loops.size(); ++i)  // its weights are there before the loop
      if (runs_in[i] >= s && g.makes(i, weights)) return false;
  } else if (!prim::rules::over_axes::view(g.t.attributes(x)).is_only(0)) {
    return false;
  }
  if (g.p.loop_of[v] != g.step0 + s) {
    bool in_place = false;
    for (int e : g.loops[s])
      for (int i = 0; i < g.t.entries[e].operands.count; ++i)
        in_place = in_place || g.id(g.t.entries[e].operands, i) == v;
    if (!in_place || !(g.definition(v) < 0 || g.p.stored[v])) return false;
  }
  for (int i = 0; i < g.loops.size(); ++i)  // nobody needs it before
    if (runs_in[i] <= s && g.reads(i, made)) return false;
  return true;
}
/// Makes sums over rows parts of the fused loops that compute or read the summed values. Returns, by loop, the entries.
/// Such a loop is plain arithmetic on rows of whole packs. A sum weighted by a vector, x^T y, is such a sum too.
constexpr vec<vec<int>> take_sums(steps_in_progress& g) {
  const int steps = g.loops.size();
  vec<vec<int>> sums(steps), kept;
  vec<bool> taken(steps, false);
  vec<int> runs_in;
  for (int s = 0; s < steps; ++s) runs_in.push_back(s);
  for (int s = 0; s < steps; ++s) {
    if (!may_have_sums(g, g.loops[s])) continue;
    for (int k = 0; k < steps; ++k)
      if (g.loops[k].empty() && !taken[k] && is_sum_of(g, s, k, runs_in)) {
        taken[k] = true;
        runs_in[k] = s;
        sums[s].push_back(g.single(k));
      }
    if (sums[s].empty()) continue;
    for (int e : g.loops[s]) {  // stored for its sum alone
      const int v = g.result(e);
      bool read = g.leaves(v);
      for (int k = 0; k < steps; ++k) read = read || (k != s && !taken[k] && g.reads(k, v));
      if (!read) g.p.stored[v] = false;
    }
  }
  for (int s = 0; s < steps; ++s)
    if (!taken[s]) kept.push_back(sums[s]);
  g.leave_out(taken);
  return kept;
}

}  // namespace drx::plan
