// drx/plan/memory/steps.hpp: the plan steps of a region, in the order in which they run.
// Tested by tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/fused_loop_folds.hpp>

namespace drx::plan {

/// Plans the steps of region r.
constexpr void make_steps(plan_in_progress& w, int r) {
  const frozen_region& region = w.t.regions[r];
  const int step0 = w.p.first_step[r] = w.next_step;
  const values_of_region& values = w.values_of[r];
  const by_value<bool> demanded = demanded_in_memory(w, region, values);
  steps_in_progress g{w, region, values, step0};
  gather_loops(g, demanded);
  move_to_readers(g, demanded);
  take_products(g);
  delay_loops(g);
  put_scatters_last(g);
  vec<vec<int>> sums = take_sums(g);
  const vec<bool> has_folds = take_folds(g, sums);
  w.p.step_count[r] = g.loops.size();
  for (int s = 0; s < g.loops.size(); ++s) {
    w.p.steps[step0 + s].first_member = w.next_member;
    w.p.steps[step0 + s].members = g.loops[s].size();
    w.p.steps[step0 + s].sums = sums[s].size();
    w.p.steps[step0 + s].has_folds = has_folds[s];
    for (int i = 0; i < g.loops[s].size(); ++i) {
      w.p.member_of[g.result(g.loops[s][i])] = i;
      w.p.members[w.next_member++] = g.loops[s][i];
    }
    for (int e : sums[s]) w.p.members[w.next_member++] = e;
  }
}
/// Whether entry e is a sum over rows in the fused loop of step s.
constexpr bool is_row_sum(const plan_in_progress& w, int s, int e) {
  const step& now = w.p.steps[s];
  for (int i = 0; i < now.sums; ++i)
    if (w.p.members[now.first_member + now.members + i] == e) return true;
  return false;
}

}  // namespace drx::plan
