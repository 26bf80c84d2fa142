// drx/plan/memory/group_order.hpp: improves the order of fused loops: entries go to the loop that reads them, matrix
// products become the first members of loops, and loops wait until their results can lie where they read.
// Tested by tests/unit/plan/workspace.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/groups.hpp>

namespace drx::plan {

/// From this many bytes on, a loop waits until its result can lie where it reads.
inline constexpr std::int64_t least_waited_for = 4096;

template <class Frozen>
class group_order_planner : public group_planner<Frozen> {
 protected:
  using base = group_planner<Frozen>;
  using base::t, base::p, base::definition, base::id, base::root, base::touched, base::next_step;
  using base::base;

  /// Moves entries that only one later loop reads to that loop, if their operands are in memory anyway: 1 - h h of a
  /// stored h need not be stored beside it.
  constexpr void move_to_readers(int step0, vec<vec<int>>& groups, const vec<bool>& demanded) {
    readers reading = readers_of(groups);
    for (int s = groups.size() - 1; s >= 0; --s)
      for (int i = groups[s].size() - 1; i >= 0; --i) {
        const int v = id(t.entries[groups[s][i]].results, 0), to = reading.group[v];
        if (demanded[v] || to <= s) continue;
        const vec<int> moved = moved_with(groups[s][i], step0, s, reading);
        if (moved.empty() || groups[to].size() + moved.size() > group_limit) continue;
        for (int e : moved) {
          const int made = id(t.entries[e].results, 0);
          p.group_of[made] = step0 + to;
          p.stored[made] = false;
          for (int j = 0; j < t.entries[e].operands.count; ++j) {
            const int o = id(t.entries[e].operands, j);
            reading.group[o] = reading.entry[o] == e || reading.group[o] == to ? to : several;
          }
        }
        move(moved, groups[s], groups[to]);
        i = groups[s].size();
      }
  }
  /// Makes matrix products the first members of the loops that alone read them.
  constexpr void take_products(const frozen_region& region, int step0, vec<vec<int>>& groups) {
    vec<int> reader(base::values + 1, none);  // by value: the loop that reads it, each element at its place
    auto read = [&](int o, int s) {
      const int m = touched(o);
      if (m < 0) return;
      const bool in_place = o == m && s >= 0 && !groups[s].empty() && t.values[m].shape == base::loop_of(groups[s]);
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
        if (g >= 0 && groups[g].size() < group_limit && base::may_follow_product(groups[g])) {
          vec<int> members{now.entry};
          members.append(groups[g]);
          groups[g] = members;
          p.stored[v] = false;
          taken[s] = true;
        }
      }
    }
    base::leave_out(taken, step0, groups);
  }
  /// Lets a loop wait for other steps that read its operand, if nobody reads that later: its result may then lie there.
  constexpr void delay_groups(const frozen_region& region, int step0, vec<vec<int>>& groups) {
    const int steps = groups.size();
    for (int s = steps - 2; s >= 0; --s) {
      if (groups[s].empty() || t.entries[groups[s][0]].prim == &prim::matmul) continue;
      int reader = steps;  // the first step that reads its results
      for (int k = steps - 1; k > s; --k)
        for (int e : groups[s])
          if (base::reads(step0 + k, groups[k], id(t.entries[e].results, 0))) reader = k;
      bool waits = false;
      for (int e : groups[s])
        for (int i = 0; i < t.entries[e].operands.count; ++i) {
          const int m = touched(id(t.entries[e].operands, i));
          if (m < 0 || definition[m] < region.first_entry || !(t.values[m].shape == base::loop_of(groups[s])) || base::bytes(m) < least_waited_for) continue;
          int last = s;
          for (int k = s + 1; k < steps; ++k)
            if (base::reads(step0 + k, groups[k], m)) last = k;
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
        for (int e : groups[k]) p.group_of[id(t.entries[e].results, 0)] = step0 + k;
    }
  }

 private:
  static constexpr int none = -1, several = -2;
  /// By value: the loop that reads it, and the entry.
  struct readers {
    vec<int> group, entry;
  };
  constexpr readers readers_of(const vec<vec<int>>& groups) const {
    readers r{vec<int>(base::values + 1, none), vec<int>(base::values + 1, none)};
    for (int s = 0; s < groups.size(); ++s)
      for (int e : groups[s])
        for (int i = 0; i < t.entries[e].operands.count; ++i) {
          const int o = id(t.entries[e].operands, i);
          r.group[o] = r.group[o] == none || r.group[o] == s ? s : several;
          r.entry[o] = r.entry[o] == none || r.entry[o] == e ? e : several;
        }
    return r;
  }
  /// Entry `first` of loop s, and the entries that have to move with it: all that it alone reads in registers. None, if
  /// these are many, or read more than one array in memory.
  constexpr vec<int> moved_with(int first, int step0, int s, const readers& reading) const {
    constexpr int most_moved = 8;
    const int v = id(t.entries[first].results, 0);
    vec<int> moved{first}, loads;
    for (int k = 0; k < moved.size(); ++k) {
      const auto& x = t.entries[moved[k]];
      for (int j = 0; j < x.operands.count; ++j) {
        const int o = id(x.operands, j), m = touched(o);
        if (m < 0) continue;
        if (root(o) == o && p.group_of[o] == step0 + s && !p.stored[o]) {  // a register here
          if (reading.entry[o] != moved[k] || moved.size() >= most_moved) return {};
          if (moved.find(definition[o]) < 0) moved.push_back(definition[o]);
        } else if (t.values[m].shape.size() == t.values[v].shape.size() && loads.find(m) < 0) {
          loads.push_back(m);
          const bool finished_here = reading.group[m] == s && definition[m] >= 0 && runs_in_tiles(t, t.entries[definition[m]]);
          if (finished_here || byte_size(t.values[m].type) > byte_size(t.values[v].type)) return {};
        }
      }
    }
    if (loads.size() > 1) return {};
    return moved;
  }
  /// Moves entries from one loop to another; both keep the entries' order.
  static constexpr void move(const vec<int>& moved, vec<int>& from, vec<int>& to) {
    vec<int> stay, all;
    int k = 0;
    for (int e : from) {
      if (moved.find(e) < 0) {
        stay.push_back(e);
        continue;
      }
      while (k < to.size() && to[k] < e) all.push_back(to[k++]);
      all.push_back(e);
    }
    while (k < to.size()) all.push_back(to[k++]);
    from = stay;
    to = all;
  }
};

}  // namespace drx::plan
