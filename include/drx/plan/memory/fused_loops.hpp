// drx/plan/memory/fused_loops.hpp: gathers elementwise entries of one shape into loops, each of which runs as one fused
// loop, and makes steps of a region's entries. A value that only its own loop uses is never stored.
// Tested by tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/memory/workspace_plan.hpp>

namespace drx::plan {

/// The steps of a region while they are planned: the functions here, of fused_loop_order.hpp and of fused_loop_sums.hpp
/// hand them on.
struct steps_in_progress {
  plan_in_progress& w;
  const frozen_region& region;
  const values_of_region& values;
  int step0;                 // the number in the program of the region's first step
  vec<vec<int>> loops = {};  // by step: the entries of its fused loop, or none if it is a single entry
  const frozen_view& t = w.t;
  workspace_plan& p = w.p;

  constexpr int id(const span_of_pool& s, int i) const { return w.id(s, i); }
  constexpr int root(int v) const { return w.root(v); }
  constexpr int touched(int v) const { return w.touched(v); }
  constexpr bool is_unstored_rearrangement(int v) const { return plan::is_unstored_rearrangement(t, p, v); }
  constexpr int definition(int v) const { return w.p.definition[v]; }
  constexpr int result(int e) const { return w.id(t.entries[e].results, 0); }

  /// The shape over which a loop runs.
  constexpr shape shape_of_loop(const vec<int>& loop) const { return t.values[result(loop.back())].shape; }
  /// The entry of step s if it is no loop.
  constexpr int single(int s) const { return p.steps[step0 + s].entry; }
  constexpr bool makes(int s, int v) const {
    if (definition(v) < 0) return false;
    return loops[s].empty() ? definition(v) == single(s) : loops[s].find(definition(v)) >= 0;
  }
  /// Whether step s reads v, or the memory that it names.
  constexpr bool reads(int s, int v) const {
    const auto entry_reads = [&](int e) {
      for (int i = 0; i < t.entries[e].operands.count; ++i) {
        const int o = id(t.entries[e].operands, i);
        if (o == v || w.touches(o, v)) return true;
      }
      return false;
    };
    if (loops[s].empty()) return entry_reads(single(s));
    for (int e : loops[s])
      if (entry_reads(e)) return true;
    return false;
  }
  /// Whether v, or what names its memory, leaves the region.
  constexpr bool leaves(int v) const {
    for (int i = 0; i < region.outputs.count; ++i)
      if (touched(id(region.outputs, i)) == v) return true;
    return false;
  }
  /// Whether entry e reads a rearrangement where its operands lie.
  constexpr bool reads_rearrangement(int e) const {
    const span_of_pool& operands = t.entries[e].operands;
    for (int i = 0; i < operands.count; ++i)
      if (is_unstored_rearrangement(id(operands, i))) return true;
    return false;
  }
  /// Whether entry e would give a loop more arrays in memory to go along than there are registers for addresses. (A
  /// loop without rearrangements has the same index in all of them.)
  constexpr bool has_too_many_arrays(const vec<int>& loop, int e, const by_value<bool>& demanded) const {
    bool rearranged = reads_rearrangement(e);
    for (int i = 0; i < loop.size() && !rearranged; ++i) rearranged = reads_rearrangement(loop[i]);
    if (!rearranged) return false;
    vec<int> arrays;
    const auto add_arrays = [&](int member) {
      if (demanded[result(member)]) arrays.push_back(result(member));
      for (int i = 0; i < t.entries[member].operands.count; ++i) {
        const int o = id(t.entries[member].operands, i);
        if (touched(o) >= 0 && loop.find(definition(o)) < 0 && arrays.find(o) < 0) arrays.push_back(o);
      }
    };
    for (int member : loop) add_arrays(member);
    add_arrays(e);
    return arrays.size() > machine::most_arrays;
  }
  /// Whether a loop has no matrix product yet, and reads neither positions nor rearrangements.
  constexpr bool may_follow_product(const vec<int>& loop) const {
    for (int e : loop) {
      const auto& x = t.entries[e];
      if (x.prim == &prim::matmul || x.prim == &prim::iota) return false;
      for (int i = 0; i < x.operands.count; ++i) {
        if (is_unstored_rearrangement(root(id(x.operands, i)))) return false;
        for (int v = root(id(x.operands, i)); definition(v) >= 0; v = root(id(t.entries[definition(v)].operands, 0))) {
          if (t.entries[definition(v)].prim == &prim::iota) return false;
          if (t.entries[definition(v)].prim != &prim::broadcast_to) break;
        }
      }
    }
    return true;
  }
  /// Removes the steps that others have taken.
  constexpr void leave_out(const vec<bool>& taken) {
    int kept = 0;
    for (int s = 0; s < loops.size(); ++s) {
      if (taken[s]) continue;
      for (int e : loops[s]) p.loop_of[result(e)] = step0 + kept;
      if (kept != s) loops[kept] = loops[s];
      p.steps[step0 + kept++] = p.steps[step0 + s];
    }
    for (; w.next_step > step0 + kept; --w.next_step) p.steps[w.next_step - 1] = {};
    loops.resize(kept);
  }
};

/// Whether operand i of x is a constant with which its kernel fills the result.
constexpr bool fills(const plan_in_progress& w, const frozen_entry& x, int i) {
  const int e = w.p.definition[w.id(x.operands, i)];
  return x.prim->in_place && i == 0 && e >= 0 && w.t.entries[e].prim == &prim::constant;
}
/// What a fused loop meets that reads a rearrangement where its operands lie, through rearrangements among them.
struct rearranged_reads {
  int pieces = 0;        // along one axis; 0 for values that are no rearrangement
  int first = 0;         // from this axis on each piece lies side by side
  bool through = false;  // whether it may read rearrangements: else these would be too many pieces
};
/// These by value, of a region.
constexpr few_by_value<rearranged_reads> rearrangements_of_region(const plan_in_progress& w,
                                                                  const frozen_region& region,
                                                                  const values_of_region& values) {
  few_by_value<rearranged_reads> all;
  for (int e = region.first_entry; e < region.first_entry + region.entries; ++e) {
    if (!is_rearrangement(w.t, w.t.entries[e])) continue;
    const rearrangement of(w.t, w.t.entries[e]);
    const rearranged_reads own{.pieces = of.most_pieces(), .first = of.first_contiguous()};
    rearranged_reads deep = own;
    deep.through = true;
    for (int i = 0; i < of.operands(); ++i) {
      const rearranged_reads& below = all[of.operand(i)];
      if (below.pieces == 0) continue;
      deep.pieces += below.pieces - 1;
      deep.first = below.first > deep.first ? below.first : deep.first;
    }
    all.set(of.result(), values, deep.pieces <= machine::most_pieces ? deep : own);
  }
  return all;
}
/// Whether a fused loop reads the rows of rearrangement v as fast as those of an array: they, or their pieces, are
/// whole vectors, or so long that their ends do not matter.
constexpr bool is_fast(const plan_in_progress& w, int v, const rearranged_reads& reads) {
  const shape& s = w.t.values[v].shape;
  const std::int64_t below = elements_below(s, reads.first), row = s[reads.first] * below;
  const std::int64_t least = w.least_rearranged_row;
  const bool one_row = row == s.size();
  if (reads.pieces > 1 && below < least) return row / (one_row ? 4 : 16) >= least;
  return row >= least && (row % least == 0 || row >= machine::long_row || one_row);
}
/// Whether entry x copies its part out of the operands of o, its first operand and one of these rearrangements.
constexpr bool can_slice(const plan_in_progress& w, const frozen_entry& x, int o, const rearranged_reads& reads) {
  return x.prim == &prim::dynamic_slice && reads.pieces > 0 && o == w.id(x.operands, 0) &&
         slices_pieces(w.t, x, rearrangement(w.t, w.t.entries[w.p.definition[o]]), w.least_rearranged_row);
}
/// By value: whether it is needed in memory, because a step, an alias, a broadcast or the outside reads it, or a fused
/// loop through rearrangements. A rearrangement is needed there if anything but loops, rearrangements and slices at
/// positions reads it, or if it would slow down loops.
constexpr by_value<bool> demanded_in_memory(const plan_in_progress& w, const frozen_region& region,
                                            const values_of_region& values) {
  by_value<bool> demanded(values, false), in_loops(values, false), sliced(values, false);
  const few_by_value<rearranged_reads> rearranged = rearrangements_of_region(w, region, values);
  for (int i = 0; i < region.outputs.count; ++i) demanded[w.id(region.outputs, i)] = true;
  for (int e = region.first_entry + region.entries - 1; e >= region.first_entry; --e) {
    const auto& x = w.t.entries[e];
    const int v = x.results.count > 0 ? w.id(x.results, 0) : 0;
    const bool moves = x.results.count > 0 && rearranged[v].pieces > 0;
    if (moves && in_loops[v] && !is_fast(w, v, rearranged[v])) demanded[v] = true;
    const bool reads_through = moves && rearranged[v].through && (demanded[v] || !sliced[v]);
    for (int i = 0; i < x.operands.count; ++i) {
      const int o = w.id(x.operands, i);
      if (x.prim->role == role::fused)
        in_loops[o] = true;
      else if (can_slice(w, x, o, rearranged[o]))
        sliced[o] = true;
      else if (!(reads_through && rearranged[o].pieces > 0) && !fills(w, x, i))
        demanded[o] = true;
    }
  }
  return demanded;
}

/// Makes the region's steps. An elementwise entry goes to the earliest loop of its shape that comes after its operands.
constexpr void gather_loops(steps_in_progress& g, const by_value<bool>& demanded) {
  plan_in_progress& w = g.w;
  by_value<int> at(g.values, -1);  // the step after which it can be read
  const auto after = [&](int v) { return at.has(v) ? at[v] : -1; };
  for (int e = g.region.first_entry; e < g.region.first_entry + g.region.entries; ++e) {
    const auto& x = g.t.entries[e];
    const role how = x.prim->role;
    const int result = x.results.count > 0 ? g.id(x.results, 0) : -1;
    if (how == role::alias) {
      g.p.root[result] = g.id(x.operands, 0);
      at[result] = after(g.touched(result));
      continue;
    }
    if ((how == role::virtual_ || is_rearrangement(g.t, x)) && !demanded[result]) continue;
    if (how == role::step || how == role::rearranged) {
      for (int i = 0; i < x.results.count; ++i) {
        g.p.stored[g.id(x.results, i)] = true;
        at[g.id(x.results, i)] = g.loops.size();
      }
      g.p.steps[w.next_step++].entry = e;
      g.loops.push_back({});
      continue;
    }
    int earliest = 0;
    for (int i = 0; i < x.operands.count; ++i) {
      const int o = g.id(x.operands, i);
      const bool same_loop = how == role::fused && g.p.loop_of[o] != no_step && at[o] >= 0 && g.root(o) == o;
      int need = same_loop ? at[o] : 0;
      if (!same_loop) w.for_each_touched(o, [&](int m) { need = after(m) + 1 > need ? after(m) + 1 : need; });
      earliest = need > earliest ? need : earliest;
    }
    int chosen = -1;
    for (int s = earliest; s < g.loops.size() && chosen < 0; ++s) {
      const vec<int>& loop = g.loops[s];
      if (!loop.empty() && loop.size() < machine::longest_loop &&
          g.t.values[g.result(loop[0])].shape == g.t.values[result].shape && !g.has_too_many_arrays(loop, e, demanded))
        chosen = s;
    }
    if (chosen < 0) {
      chosen = g.loops.size();
      g.loops.push_back({});
      g.p.steps[w.next_step++].is_loop = true;
    }
    g.loops[chosen].push_back(e);
    at[result] = chosen;
    g.p.loop_of[result] = g.step0 + chosen;
    if (demanded[result]) g.p.stored[result] = true;
    // An operand from another loop must be in memory.
    for (int i = 0; i < x.operands.count; ++i) {
      const int o = g.id(x.operands, i);
      if (g.p.loop_of[o] != no_step && g.p.loop_of[o] != g.p.loop_of[result]) g.p.stored[o] = true;
    }
  }
}

}  // namespace drx::plan
