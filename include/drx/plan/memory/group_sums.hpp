// drx/plan/memory/group_sums.hpp: makes sums over rows parts of the fused loops that compute or read the summed values.
// Tested by tests/unit/run/sums_of_loops.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/group_order.hpp>

namespace drx::plan {

template <class Frozen>
class group_sums_planner : public group_order_planner<Frozen> {
 protected:
  using base = group_order_planner<Frozen>;
  using base::t, base::p, base::definition, base::id, base::root, base::touched, base::next_step;
  using base::base;

  /// Makes sums over rows parts of the fused loops that compute or read the summed values. Returns, by loop, the
  /// entries. Such a loop is plain arithmetic on rows of whole packs. A sum weighted by a vector, x^T y, is such a sum
  /// too.
  constexpr vec<vec<int>> take_sums(const frozen_region& region, int step0, vec<vec<int>>& groups) {
    const int steps = groups.size();
    vec<vec<int>> sums(steps), kept;
    vec<bool> taken(steps, false);
    vec<int> runs_in;  // by step: where it runs, by itself or in the loop that has taken it
    for (int s = 0; s < steps; ++s) runs_in.push_back(s);
    for (int s = 0; s < steps; ++s) {
      if (!may_have_sums(groups[s])) continue;
      for (int k = 0; k < steps; ++k)
        if (groups[k].empty() && !taken[k] && is_sum_of(step0, s, k, groups, runs_in)) {
          taken[k] = true;
          runs_in[k] = s;
          sums[s].push_back(p.steps[step0 + k].entry);
        }
      for (int e : groups[s]) {  // stored for its sum alone
        const int v = id(t.entries[e].results, 0);
        bool read = false;
        for (int k = 0; k < steps; ++k) read = read || (k != s && !taken[k] && base::reads(step0 + k, groups[k], v));
        for (int i = 0; i < region.outputs.count; ++i) read = read || touched(id(region.outputs, i)) == v;
        if (!sums[s].empty() && !read) p.stored[v] = false;
      }
    }
    for (int s = 0; s < steps; ++s)
      if (!taken[s]) kept.push_back(sums[s]);
    base::leave_out(taken, step0, groups);
    return kept;
  }

 private:
  /// Whether a loop is plain arithmetic in one floating type, on rows of whole packs.
  constexpr bool may_have_sums(const vec<int>& group) const {
    constexpr std::int64_t most_rows = 4096;
    if (group.empty() || !base::may_follow_product(group)) return false;
    const shape loop = base::loop_of(group);
    if (loop.rank != 2 || loop[0] < 8 || loop[0] > most_rows || loop[1] % 16 != 0) return false;
    const dtype type = t.values[id(t.entries[group[0]].results, 0)].type;
    for (int e : group) {
      const primitive* prim = t.entries[e].prim;
      if (prim != &prim::add && prim != &prim::sub && prim != &prim::mul && prim != &prim::neg) return false;
      if (t.values[id(t.entries[e].results, 0)].type != type) return false;
    }
    return is_floating(type);
  }
  /// Whether step k is a sum over the rows of a value that loop s computes, or reads at its place, and may run with the
  /// loop.
  constexpr bool is_sum_of(int step0, int s, int k, const vec<vec<int>>& groups, const vec<int>& runs_in) const {
    const frozen_entry& x = t.entries[p.steps[step0 + k].entry];
    const bool weighted = x.prim == &prim::matmul;
    if (!weighted && x.prim != &prim::sum) return false;
    const int v = id(x.operands, 0), made = id(x.results, 0);
    const shape loop = base::loop_of(groups[s]);
    if (root(v) != v || t.values[v].shape != loop || t.values[v].type != t.values[id(t.entries[groups[s][0]].results, 0)].type) return false;
    if (t.values[made].shape.size() != loop[1]) return false;
    if (weighted) {
      const product_extents product = extents_of(t, x);
      const int w = root(id(x.operands, 1));
      if (!product.tx || product.ty || product.n != 1 || (definition[w] >= 0 && !p.stored[w])) return false;
      for (int i = 0; i < groups.size(); ++i)  // its weight is there before the loop
        if (runs_in[i] >= s && base::makes(step0 + i, groups[i], w)) return false;
    } else if (!prim::rules::over_axes::view(t.attributes(x)).is_only(0)) {
      return false;
    }
    if (p.group_of[v] != step0 + s) {
      bool in_place = false;
      for (int e : groups[s])
        for (int i = 0; i < t.entries[e].operands.count; ++i) in_place = in_place || id(t.entries[e].operands, i) == v;
      if (!in_place || !(definition[v] < 0 || p.stored[v])) return false;
    }
    for (int i = 0; i < groups.size(); ++i)  // nobody needs it before
      if (runs_in[i] <= s && base::reads(step0 + i, groups[i], made)) return false;
    return true;
  }
};

}  // namespace drx::plan
