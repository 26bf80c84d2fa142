// drx/plan/groups.hpp: a region's entries become steps. Elementwise entries of one shape gather into groups, each one loop; what is used
// inside of its loop only is never stored. A product of matrices that one group alone reads becomes the group's first member.
#pragma once

#include <drx/plan/workspace_plan.hpp>

namespace drx::plan {

/// The most entries of one group: compilers take more than twice as long for a loop twice as long.
inline constexpr int group_limit = 64;

/// From so many bytes a loop waits until its result can lie where it reads.
inline constexpr std::int64_t least_waited_for = 4096;

/// Plans the steps of regions of a frozen, staged tape.
template <class Frozen>
class step_planner : public plan_in_progress<Frozen> {
 protected:
  using base = plan_in_progress<Frozen>;
  using base::t, base::p, base::definition, base::id, base::root, base::touched, base::next_step, base::next_member;
  using base::base;

  /// Plans the steps of region r.
  constexpr void make_steps(int r) {
    const frozen_region& region = t.regions[r];
    const int step0 = p.first_step[r] = next_step;
    const vec<bool> demanded = demanded_in_memory(region);
    vec<vec<int>> groups = gathered(region, step0, demanded);
    move_to_readers(step0, groups, demanded);
    take_products(region, step0, groups);
    delay_groups(region, step0, groups);
    const vec<vec<int>> sums = take_sums(region, step0, groups);
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
  /// Whether entry e is a sum over the rows of the loop of step s.
  constexpr bool is_sum(int s, int e) const {
    for (int i = 0; i < p.steps[s].sums; ++i)
      if (p.members[p.steps[s].first_member + p.steps[s].members + i] == e) return true;
    return false;
  }

 private:
  /// Whether operand i of x is a constant with which its kernel fills the result.
  constexpr bool fills(const frozen_entry& x, int i) const {
    const int e = definition[id(x.operands, i)];
    return x.prim == &prim::update_slice && i == 0 && e >= 0 && t.entries[e].prim == &prim::constant;
  }

  /// By value: whether it is needed in memory, since a step, an alias, a broadcast or the outside reads it.
  constexpr vec<bool> demanded_in_memory(const frozen_region& region) const {
    vec<bool> demanded(base::values + 1, false);
    for (int e = region.first_entry; e < region.first_entry + region.entries; ++e) {
      const auto& x = t.entries[e];
      const role how = role_of(x.prim);
      if (how != role::fused)
        for (int i = 0; i < x.operands.count; ++i)
          if (!fills(x, i)) demanded[id(x.operands, i)] = true;
    }
    for (int i = 0; i < region.outputs.count; ++i) demanded[id(region.outputs, i)] = true;
    return demanded;
  }

  /// The region's steps: of each its members (none where it is a single entry). An entry goes to the earliest group of its shape that
  /// comes after its operands.
  constexpr vec<vec<int>> gathered(const frozen_region& region, int step0, const vec<bool>& demanded) {
    vec<int> at(base::values + 1, -1);  // by value of this region: the step after which it can be read
    vec<vec<int>> groups;
    auto after = [&](int v) { return v < 0 || at[v] < 0 ? -1 : at[v]; };
    for (int e = region.first_entry; e < region.first_entry + region.entries; ++e) {
      const auto& x = t.entries[e];
      const role how = role_of(x.prim);
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
        const bool same_loop = how == role::fused && p.group_of[o] > 0 && at[o] >= 0 && root(o) == o;
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
      p.group_of[result] = 1 + step0 + chosen;
      if (demanded[result]) p.stored[result] = true;
      // an operand from another group must be in memory
      for (int i = 0; i < x.operands.count; ++i) {
        const int o = id(x.operands, i);
        if (p.group_of[o] > 0 && p.group_of[o] != p.group_of[result]) p.stored[o] = true;
      }
    }
    return groups;
  }

  /// Moves what one later group alone reads to that group, where it is made of what lies in memory anyway: 1 - h h of a stored h
  /// need not be stored beside it.
  constexpr void move_to_readers(int step0, vec<vec<int>>& groups, const vec<bool>& demanded) {
    constexpr int none = -1, several = -2, most_moved = 8;
    vec<int> reading_group(base::values + 1, none), reading_entry(base::values + 1, none);
    for (int s = 0; s < groups.size(); ++s)
      for (int e : groups[s])
        for (int i = 0; i < t.entries[e].operands.count; ++i) {
          const int o = id(t.entries[e].operands, i);
          reading_group[o] = reading_group[o] == none || reading_group[o] == s ? s : several;
          reading_entry[o] = reading_entry[o] == none || reading_entry[o] == e ? e : several;
        }
    for (int s = groups.size() - 1; s >= 0; --s)
      for (int i = groups[s].size() - 1; i >= 0; --i) {
        const int v = id(t.entries[groups[s][i]].results, 0), to = reading_group[v];
        if (demanded[v] || to <= s) continue;
        vec<int> moved{groups[s][i]}, loads;
        bool can = true;
        for (int k = 0; k < moved.size() && can; ++k) {
          const auto& x = t.entries[moved[k]];
          for (int j = 0; j < x.operands.count && can; ++j) {
            const int o = id(x.operands, j), m = touched(o);
            if (m < 0) continue;
            if (root(o) == o && p.group_of[o] == 1 + step0 + s && !p.stored[o]) {  // a register here
              can = reading_entry[o] == moved[k] && moved.size() < most_moved;
              if (can && moved.find(definition[o]) < 0) moved.push_back(definition[o]);
            } else if (t.values[m].shape.size() == t.values[v].shape.size() && loads.find(m) < 0) {
              loads.push_back(m);
              const bool finished_here = reading_group[m] == s && definition[m] >= 0 && runs_in_tiles(t, t.entries[definition[m]]);
              can = !finished_here && byte_size(t.values[m].type) <= byte_size(t.values[v].type);
            }
          }
        }
        if (!can || loads.size() > 1 || groups[to].size() + moved.size() > group_limit) continue;
        for (int e : moved) {
          const int made = id(t.entries[e].results, 0);
          p.group_of[made] = 1 + step0 + to;
          p.stored[made] = false;
          for (int j = 0; j < t.entries[e].operands.count; ++j) {
            const int o = id(t.entries[e].operands, j);
            reading_group[o] = reading_entry[o] == e || reading_group[o] == to ? to : several;
          }
        }
        vec<int> stay, all;  // in the entries' order, both
        int k = 0;
        for (int e : groups[s]) {
          if (moved.find(e) < 0) {
            stay.push_back(e);
            continue;
          }
          while (k < groups[to].size() && groups[to][k] < e) all.push_back(groups[to][k++]);
          all.push_back(e);
        }
        while (k < groups[to].size()) all.push_back(groups[to][k++]);
        groups[s] = stay;
        groups[to] = all;
        i = stay.size();
      }
  }
  /// Makes products of matrices the first members of the groups that alone read them.
  constexpr void take_products(const frozen_region& region, int step0, vec<vec<int>>& groups) {
    constexpr int none = -1, several = -2;
    vec<int> reader(base::values + 1, none);  // by value: the group that reads it, each element at its place
    auto read = [&](int o, int s) {
      const int m = touched(o);
      if (m < 0) return;
      const bool in_place = o == m && s >= 0 && !groups[s].empty() && t.values[m].shape == loop_of(groups[s]);
      reader[m] = in_place && (reader[m] == none || reader[m] == s) ? s : several;
    };
    for (int s = 0; s < groups.size(); ++s) {
      const int single = p.steps[step0 + s].entry;
      if (groups[s].empty() && single < 0) continue;
      for (int i = 0; i < (groups[s].empty() ? 1 : groups[s].size()); ++i) {
        const auto& x = t.entries[groups[s].empty() ? single : groups[s][i]];
        for (int k = 0; k < x.operands.count; ++k) read(id(x.operands, k), s);
      }
    }
    for (int i = 0; i < region.outputs.count; ++i) read(id(region.outputs, i), -1);

    vec<bool> taken(groups.size(), false);
    for (int s = 0; s < groups.size(); ++s) {
      const step now = p.steps[step0 + s];
      taken[s] = now.group && groups[s].empty();  // it has moved
      if (!now.group && runs_in_tiles(t, t.entries[now.entry])) {
        const int v = id(t.entries[now.entry].results, 0), g = reader[v];
        if (g >= 0 && groups[g].size() < group_limit && may_follow_product(groups[g])) {
          vec<int> members{now.entry};
          members.append(groups[g]);
          groups[g] = members;
          p.stored[v] = false;
          taken[s] = true;
        }
      }
    }
    leave_out(taken, step0, groups);
  }
  /// Leaves out the steps that others have taken.
  constexpr void leave_out(const vec<bool>& taken, int step0, vec<vec<int>>& groups) {
    int kept = 0;
    for (int s = 0; s < groups.size(); ++s) {
      if (taken[s]) continue;
      for (int e : groups[s]) p.group_of[id(t.entries[e].results, 0)] = 1 + step0 + kept;
      if (kept != s) groups[kept] = groups[s];
      p.steps[step0 + kept++] = p.steps[step0 + s];
    }
    for (; next_step > step0 + kept; --next_step) p.steps[next_step - 1] = {};
    groups.resize(kept);
  }
  /// Lets a group wait for steps that read what it reads too, where nobody does later: its result may then lie there.
  constexpr void delay_groups(const frozen_region& region, int step0, vec<vec<int>>& groups) {
    const int steps = groups.size();
    for (int s = steps - 2; s >= 0; --s) {
      if (groups[s].empty() || t.entries[groups[s][0]].prim == &prim::matmul) continue;
      int reader = steps;  // the first step that reads its results
      for (int k = steps - 1; k > s; --k)
        for (int e : groups[s])
          if (reads(step0 + k, groups[k], id(t.entries[e].results, 0))) reader = k;
      bool waits = false;
      for (int e : groups[s])
        for (int i = 0; i < t.entries[e].operands.count; ++i) {
          const int m = touched(id(t.entries[e].operands, i));
          if (m < 0 || definition[m] < region.first_entry || !(t.values[m].shape == loop_of(groups[s])) || base::bytes(m) < least_waited_for) continue;
          int last = s;
          for (int k = s + 1; k < steps; ++k)
            if (reads(step0 + k, groups[k], m)) last = k;
          for (int k = 0; k < region.outputs.count; ++k)
            if (touched(id(region.outputs, k)) == m) last = steps;
          waits = waits || (last > s && last < reader);
        }
      if (!waits) continue;
      for (int k = s; k + 1 < reader; ++k) {
        vec<int> next = groups[k + 1];
        groups[k + 1] = groups[k];
        groups[k] = next;
        const step first = p.steps[step0 + k];
        p.steps[step0 + k] = p.steps[step0 + k + 1];
        p.steps[step0 + k + 1] = first;
      }
      for (int k = s; k < reader; ++k)
        for (int e : groups[k]) p.group_of[id(t.entries[e].results, 0)] = 1 + step0 + k;
    }
  }
  /// Makes sums over rows parts of the loops that make what is summed, or read it: by group, the entries. Such a loop is plain arithmetic on
  /// rows of whole packs. What a vector weighs, x^T y, is such a sum too.
  constexpr vec<vec<int>> take_sums(const frozen_region& region, int step0, vec<vec<int>>& groups) {
    const int steps = groups.size();
    vec<vec<int>> sums(steps), kept;
    vec<bool> taken(steps, false);
    vec<int> runs_in;  // by step: where it runs, itself or the group that has taken it
    for (int s = 0; s < steps; ++s) runs_in.push_back(s);
    for (int s = 0; s < steps; ++s) {
      if (!may_have_sums(groups[s])) continue;
      for (int k = 0; k < steps; ++k)
        if (groups[k].empty() && !taken[k] && is_sum_of(step0, s, k, groups, runs_in)) {
          taken[k] = true;
          runs_in[k] = s;
          sums[s].push_back(p.steps[step0 + k].entry);
        }
      for (int e : groups[s]) {  // what was stored for its sum alone
        const int v = id(t.entries[e].results, 0);
        bool read = false;
        for (int k = 0; k < steps; ++k) read = read || (k != s && !taken[k] && reads(step0 + k, groups[k], v));
        for (int i = 0; i < region.outputs.count; ++i) read = read || touched(id(region.outputs, i)) == v;
        if (!sums[s].empty() && !read) p.stored[v] = false;
      }
    }
    for (int s = 0; s < steps; ++s)
      if (!taken[s]) kept.push_back(sums[s]);
    leave_out(taken, step0, groups);
    return kept;
  }
  /// Whether a group is plain arithmetic in one floating type, on rows of whole packs.
  constexpr bool may_have_sums(const vec<int>& group) const {
    constexpr std::int64_t most_rows = 4096;
    if (group.empty() || !may_follow_product(group)) return false;
    const shape loop = loop_of(group);
    if (loop.rank != 2 || loop[0] < 8 || loop[0] > most_rows || loop[1] % 16 != 0) return false;
    const dtype type = t.values[id(t.entries[group[0]].results, 0)].type;
    for (int e : group) {
      const primitive* prim = t.entries[e].prim;
      if (prim != &prim::add && prim != &prim::sub && prim != &prim::mul && prim != &prim::neg) return false;
      if (t.values[id(t.entries[e].results, 0)].type != type) return false;
    }
    return is_floating(type);
  }
  /// Whether step k is a sum over the rows of what group s makes, or reads at its place; it may run with the group.
  constexpr bool is_sum_of(int step0, int s, int k, const vec<vec<int>>& groups, const vec<int>& runs_in) const {
    const frozen_entry& x = t.entries[p.steps[step0 + k].entry];
    const bool weighted = x.prim == &prim::matmul;
    if (!weighted && x.prim != &prim::sum) return false;
    const int v = id(x.operands, 0), made = id(x.results, 0);
    const shape loop = loop_of(groups[s]);
    if (root(v) != v || t.values[v].shape != loop || t.values[v].type != t.values[id(t.entries[groups[s][0]].results, 0)].type) return false;
    if (t.values[made].shape.size() != loop[1]) return false;
    if (weighted) {
      const product_extents product = extents_of(t, x);
      const int w = root(id(x.operands, 1));
      if (!product.tx || product.ty || product.n != 1 || (definition[w] >= 0 && !p.stored[w])) return false;
      for (int i = 0; i < groups.size(); ++i)  // it is there before the loop
        if (runs_in[i] >= s && makes(step0 + i, groups[i], w)) return false;
    } else if (x.ints.count != 1 || t.pool[x.ints.first] != 0) {
      return false;
    }
    if (p.group_of[v] != 1 + step0 + s) {
      bool in_place = false;
      for (int e : groups[s])
        for (int i = 0; i < t.entries[e].operands.count; ++i) in_place = in_place || id(t.entries[e].operands, i) == v;
      if (!in_place || !(definition[v] < 0 || p.stored[v])) return false;
    }
    for (int i = 0; i < groups.size(); ++i)  // nobody needs it before
      if (runs_in[i] <= s && reads(step0 + i, groups[i], made)) return false;
    return true;
  }
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
  constexpr shape loop_of(const vec<int>& group) const { return t.values[id(t.entries[group.back()].results, 0)].shape; }
  /// Whether a group has no product yet, and reads no positions.
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
};

}  // namespace drx::plan
