// drx/plan/memory/groups.hpp: gathers elementwise entries of one shape into groups, each of which runs as one fused
// loop, and makes steps of a region's entries. A value that only its own loop uses is never stored.
// Tested by tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/workspace_plan.hpp>

namespace drx::plan {

/// The largest number of entries in a loop: compilers take more than twice as long for a loop twice as long.
inline constexpr int group_limit = 64;

/// A region's steps while they are planned: for each the entries of its fused loop, or none if it is a single entry.
/// The region's first step is number `step0` of the program.
template <class Frozen>
class group_planner : public plan_in_progress<Frozen> {
 protected:
  using base = plan_in_progress<Frozen>;
  using base::t, base::p, base::definition, base::id, base::root, base::touched, base::next_step;
  using base::base;

  /// The region's steps, each with the entries of its fused loop (none if it is a single entry). An entry goes to the
  /// earliest loop of its shape that comes after its operands.
  constexpr vec<vec<int>> gathered(const frozen_region& region, int step0, const vec<bool>& demanded) {
    vec<int> at(base::values + 1, -1);  // by value of this region: the step after which it can be read
    vec<vec<int>> groups;
    auto after = [&](int v) { return v < 0 || at[v] < 0 ? -1 : at[v]; };
    for (int e = region.first_entry; e < region.first_entry + region.entries; ++e) {
      const auto& x = t.entries[e];
      const role how = x.prim->role;
      const int result = x.results.count > 0 ? id(x.results, 0) : -1;
      if (how == role::alias) {
        p.root[result] = id(x.operands, 0);
        at[result] = after(touched(result));
        continue;
      }
      if (how == role::virtual_ && !demanded[result]) continue;
      if (how == role::step) {
        for (int i = 0; i < x.results.count; ++i) {
          p.stored[id(x.results, i)] = true;
          at[id(x.results, i)] = groups.size();
        }
        p.steps[next_step++].entry = e;
        groups.push_back({});
        continue;
      }
      int earliest = 0;
      for (int i = 0; i < x.operands.count; ++i) {
        const int o = id(x.operands, i);
        const bool same_loop = how == role::fused && p.group_of[o] != no_step && at[o] >= 0 && root(o) == o;
        const int need = same_loop ? at[o] : after(touched(o)) + 1;
        earliest = need > earliest ? need : earliest;
      }
      int chosen = -1;
      for (int s = earliest; s < groups.size() && chosen < 0; ++s)
        if (!groups[s].empty() && groups[s].size() < group_limit && t.values[id(t.entries[groups[s][0]].results, 0)].shape == t.values[result].shape) chosen = s;
      if (chosen < 0) {
        chosen = groups.size();
        groups.push_back({});
        p.steps[next_step++].group = true;
      }
      groups[chosen].push_back(e);
      at[result] = chosen;
      p.group_of[result] = step0 + chosen;
      if (demanded[result]) p.stored[result] = true;
      // An operand from another loop must be in memory.
      for (int i = 0; i < x.operands.count; ++i) {
        const int o = id(x.operands, i);
        if (p.group_of[o] != no_step && p.group_of[o] != p.group_of[result]) p.stored[o] = true;
      }
    }
    return groups;
  }

  /// Removes the steps that others have taken.
  constexpr void leave_out(const vec<bool>& taken, int step0, vec<vec<int>>& groups) {
    int kept = 0;
    for (int s = 0; s < groups.size(); ++s) {
      if (taken[s]) continue;
      for (int e : groups[s]) p.group_of[id(t.entries[e].results, 0)] = step0 + kept;
      if (kept != s) groups[kept] = groups[s];
      p.steps[step0 + kept++] = p.steps[step0 + s];
    }
    for (; next_step > step0 + kept; --next_step) p.steps[next_step - 1] = {};
    groups.resize(kept);
  }
  constexpr shape loop_of(const vec<int>& group) const { return t.values[id(t.entries[group.back()].results, 0)].shape; }
  constexpr bool makes(int s, const vec<int>& group, int v) const {
    return group.empty() ? definition[v] == p.steps[s].entry && definition[v] >= 0 : group.find(definition[v]) >= 0;
  }
  /// Whether a step reads v, or the memory that it names.
  constexpr bool reads(int s, const vec<int>& group, int v) const {
    const auto entry_reads = [&](int e) {
      for (int i = 0; i < t.entries[e].operands.count; ++i) {
        const int o = id(t.entries[e].operands, i);
        if (o == v || touched(o) == v) return true;
      }
      return false;
    };
    if (group.empty()) return entry_reads(p.steps[s].entry);
    for (int e : group)
      if (entry_reads(e)) return true;
    return false;
  }
  /// Whether a loop has no matrix product yet, and reads no positions.
  constexpr bool may_follow_product(const vec<int>& group) const {
    for (int e : group) {
      const auto& x = t.entries[e];
      if (x.prim == &prim::matmul || x.prim == &prim::iota) return false;
      for (int i = 0; i < x.operands.count; ++i)
        for (int v = root(id(x.operands, i)); definition[v] >= 0; v = root(id(t.entries[definition[v]].operands, 0))) {
          if (t.entries[definition[v]].prim == &prim::iota) return false;
          if (t.entries[definition[v]].prim != &prim::broadcast_to) break;
        }
    }
    return true;
  }
  /// By value: whether it is needed in memory, because a step, an alias, a broadcast or the outside reads it.
  constexpr vec<bool> demanded_in_memory(const frozen_region& region) const {
    vec<bool> demanded(base::values + 1, false);
    for (int e = region.first_entry; e < region.first_entry + region.entries; ++e) {
      const auto& x = t.entries[e];
      const role how = x.prim->role;
      if (how != role::fused)
        for (int i = 0; i < x.operands.count; ++i)
          if (!fills(x, i)) demanded[id(x.operands, i)] = true;
    }
    for (int i = 0; i < region.outputs.count; ++i) demanded[id(region.outputs, i)] = true;
    return demanded;
  }

 private:
  /// Whether operand i of x is a constant with which its kernel fills the result.
  constexpr bool fills(const frozen_entry& x, int i) const {
    const int e = definition[id(x.operands, i)];
    return x.prim->in_place && i == 0 && e >= 0 && t.entries[e].prim == &prim::constant;
  }
};

}  // namespace drx::plan
