// drx/plan/memory/steps.hpp: the plan steps of a region, in the order in which they run.
// Tested by tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/group_sums.hpp>

namespace drx::plan {

/// Plans the steps of regions of a frozen, staged tape.
template <class Frozen>
class step_planner : public group_sums_planner<Frozen> {
 protected:
  using base = group_sums_planner<Frozen>;
  using base::t, base::p, base::id, base::next_step, base::next_member;
  using base::base;

  /// Plans the steps of region r.
  constexpr void make_steps(int r) {
    const frozen_region& region = t.regions[r];
    const int step0 = p.first_step[r] = next_step;
    const vec<bool> demanded = base::demanded_in_memory(region);
    vec<vec<int>> groups = base::gathered(region, step0, demanded);
    base::move_to_readers(step0, groups, demanded);
    base::take_products(region, step0, groups);
    base::delay_groups(region, step0, groups);
    const vec<vec<int>> sums = base::take_sums(region, step0, groups);
    p.step_count[r] = groups.size();
    for (int s = 0; s < groups.size(); ++s) {
      p.steps[step0 + s].first_member = next_member;
      p.steps[step0 + s].members = groups[s].size();
      p.steps[step0 + s].sums = sums[s].size();
      for (int i = 0; i < groups[s].size(); ++i) {
        p.member_of[id(t.entries[groups[s][i]].results, 0)] = i;
        p.members[next_member++] = groups[s][i];
      }
      for (int e : sums[s]) p.members[next_member++] = e;
    }
  }
  /// Whether entry e is a sum over rows in the fused loop of step s.
  constexpr bool is_sum(int s, int e) const {
    for (int i = 0; i < p.steps[s].sums; ++i)
      if (p.members[p.steps[s].first_member + p.steps[s].members + i] == e) return true;
    return false;
  }
};

}  // namespace drx::plan
