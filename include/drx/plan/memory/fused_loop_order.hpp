// drx/plan/memory/fused_loop_order.hpp: improves the order of steps: entries go to the loop that reads them, matrix
// products become the first members of loops, loops wait until their results can lie where they read, and results that
// are scattered come last.
// Tested by tests/unit/plan/workspace.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/memory/fused_loops.hpp>
#include <drx/plan/memory/products.hpp>

namespace drx::plan {

/// By value: the loop that reads it, and the entry.
struct loop_readers {
  static constexpr int none = -1, several = -2;
  by_value<int> loop, entry;
};

constexpr loop_readers readers_of(const steps_in_progress& g) {
  constexpr int none = loop_readers::none, several = loop_readers::several;
  loop_readers r{by_value<int>(g.values, none), by_value<int>(g.values, none)};
  for (int s = 0; s < g.loops.size(); ++s)
    for (int e : g.loops[s])
      for (int i = 0; i < g.t.entries[e].operands.count; ++i) {
        const int o = g.id(g.t.entries[e].operands, i);
        r.loop[o] = r.loop[o] == none || r.loop[o] == s ? s : several;
        r.entry[o] = r.entry[o] == none || r.entry[o] == e ? e : several;
      }
  return r;
}
/// Entry `first` of loop s, and the entries that have to move with it: all that it alone reads in registers. None, if
/// these are many, or read more than one array in memory.
constexpr vec<int> moved_with(const steps_in_progress& g, int first, int s, const loop_readers& reading) {
  const int v = g.result(first);
  vec<int> moved{first}, loads;
  for (int k = 0; k < moved.size(); ++k) {
    const auto& x = g.t.entries[moved[k]];
    for (int j = 0; j < x.operands.count; ++j) {
      const int o = g.id(x.operands, j), m = g.touched(o);
      if (m < 0) continue;
      if (g.root(o) == o && g.p.loop_of[o] == g.step0 + s && !g.p.stored[o]) {  // a register here
        if (reading.entry[o] != moved[k] || moved.size() >= machine::most_moved) return {};
        if (moved.find(g.definition(o)) < 0) moved.push_back(g.definition(o));
      } else if (g.t.values[m].shape.size() == g.t.values[v].shape.size() && loads.find(m) < 0) {
        loads.push_back(m);
        const bool finished_here = reading.loop.has(m) && reading.loop[m] == s && g.definition(m) >= 0 &&
                                   runs_in_tiles(g.t, g.t.entries[g.definition(m)]);
        if (finished_here || byte_size(g.t.values[m].type) > byte_size(g.t.values[v].type)) return {};
      }
    }
  }
  if (loads.size() > 1) return {};
  return moved;
}
/// Moves entries from one loop to another; both keep the entries' order.
constexpr void move_entries(const vec<int>& moved, vec<int>& from, vec<int>& to) {
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
/// Moves entries that only one later loop reads to that loop, if their operands are in memory anyway: 1 - h h of a
/// stored h need not be stored beside it.
constexpr void move_to_readers(steps_in_progress& g, const by_value<bool>& demanded) {
  loop_readers reading = readers_of(g);
  for (int s = g.loops.size() - 1; s >= 0; --s)
    for (int i = g.loops[s].size() - 1; i >= 0; --i) {
      const int v = g.result(g.loops[s][i]), to = reading.loop[v];
      if (demanded[v] || to <= s) continue;
      const vec<int> moved = moved_with(g, g.loops[s][i], s, reading);
      if (moved.empty() || g.loops[to].size() + moved.size() > machine::longest_loop) continue;
      for (int e : moved) {
        const int made = g.result(e);
        g.p.loop_of[made] = g.step0 + to;
        g.p.stored[made] = false;
        for (int j = 0; j < g.t.entries[e].operands.count; ++j) {
          const int o = g.id(g.t.entries[e].operands, j);
          reading.loop[o] = reading.entry[o] == e || reading.loop[o] == to ? to : loop_readers::several;
        }
      }
      move_entries(moved, g.loops[s], g.loops[to]);
      i = g.loops[s].size();
    }
}

/// By value: the step that alone reads it, each element at its place; else `none` or `several`.
constexpr by_value<int> readers_in_place(const steps_in_progress& g) {
  by_value<int> reader(g.values, loop_readers::none);
  const auto read = [&](int o, int s) {
    g.w.for_each_touched(o, [&](int m) {
      if (!reader.has(m)) return;
      const bool in_place =
          o == m && s >= 0 && !g.loops[s].empty() && g.t.values[m].shape == g.shape_of_loop(g.loops[s]);
      reader[m] = in_place && (reader[m] == loop_readers::none || reader[m] == s) ? s : loop_readers::several;
    });
  };
  const auto read_all = [&](int e, int s) {
    for (int k = 0; k < g.t.entries[e].operands.count; ++k) read(g.id(g.t.entries[e].operands, k), s);
  };
  for (int s = 0; s < g.loops.size(); ++s) {
    if (g.loops[s].empty() && g.single(s) >= 0) read_all(g.single(s), s);
    for (int e : g.loops[s]) read_all(e, s);
  }
  for (int i = 0; i < g.region.outputs.count; ++i) read(g.id(g.region.outputs, i), -1);
  return reader;
}
/// Makes matrix products the first members of the loops that alone read them.
constexpr void take_products(steps_in_progress& g) {
  const by_value<int> reader = readers_in_place(g);
  vec<bool> taken(g.loops.size(), false);
  for (int s = 0; s < g.loops.size(); ++s) {
    const step now = g.p.steps[g.step0 + s];
    taken[s] = now.is_loop && g.loops[s].empty();  // it has moved
    if (now.is_loop || !runs_in_tiles(g.t, g.t.entries[now.entry])) continue;
    const int v = g.result(now.entry), to = reader[v];
    if (to < 0 || g.loops[to].size() >= machine::longest_loop || !g.may_follow_product(g.loops[to])) continue;
    vec<int> members{now.entry};
    members.append(g.loops[to]);
    g.loops[to] = members;
    g.p.stored[v] = false;
    taken[s] = true;
  }
  g.leave_out(taken);
}

/// The values of the region that loop s reads in memory each at its place, and that are so large that it should wait
/// until its results can lie there.
constexpr vec<int> large_operands(const steps_in_progress& g, int s) {
  vec<int> large;
  for (int e : g.loops[s])
    for (int i = 0; i < g.t.entries[e].operands.count; ++i) {
      const int m = g.touched(g.id(g.t.entries[e].operands, i));
      if (m < 0 || g.definition(m) < g.region.first_entry || g.w.bytes(m) < machine::least_waited_for) continue;
      if (g.t.values[m].shape == g.shape_of_loop(g.loops[s]) && !g.is_unstored_rearrangement(m) && large.find(m) < 0)
        large.push_back(m);
    }
  return large;
}
/// The first step after s that reads results of loop s, or the number of steps.
constexpr int first_reader(const steps_in_progress& g, int s) {
  for (int k = s + 1; k < g.loops.size(); ++k)
    for (int e : g.loops[s])
      if (g.reads(k, g.result(e))) return k;
  return g.loops.size();
}
/// Whether loop s should wait for other steps that read its operand m before step `reader`, which reads its results.
constexpr bool should_wait(const steps_in_progress& g, int s, int m, int reader) {
  if (g.leaves(m)) return false;
  for (int k = g.loops.size() - 1; k > s; --k)
    if (g.reads(k, m)) return k < reader;
  return false;
}
/// Lets a loop wait for other steps that read its operand, if nobody reads that later: its result may then lie there.
constexpr void delay_loops(steps_in_progress& g) {
  const int steps = g.loops.size();
  for (int s = steps - 2; s >= 0; --s) {
    if (g.loops[s].empty() || g.t.entries[g.loops[s][0]].prim == &prim::matmul) continue;
    const vec<int> large = large_operands(g, s);
    if (large.empty()) continue;
    const int reader = first_reader(g, s);
    bool waits = false;
    for (int m : large) waits = waits || should_wait(g, s, m, reader);
    if (!waits) continue;
    for (int k = s; k + 1 < reader; ++k) {
      const vec<int> next = g.loops[k + 1];
      g.loops[k + 1] = g.loops[k];
      g.loops[k] = next;
      const step first = g.p.steps[g.step0 + k];
      g.p.steps[g.step0 + k] = g.p.steps[g.step0 + k + 1];
      g.p.steps[g.step0 + k + 1] = first;
    }
    for (int k = s; k < reader; ++k)
      for (int e : g.loops[k]) g.p.loop_of[g.result(e)] = g.step0 + k;
  }
}
/// Whether step s scatters rows, or adds up what such steps make.
constexpr bool only_scatters(const steps_in_progress& g, int s) {
  const auto is = [&](int e, const primitive& prim) { return e >= 0 && g.t.entries[e].prim == &prim; };
  if (g.loops[s].empty()) return is(g.single(s), prim::scatter);
  for (int e : g.loops[s]) {
    if (!is(e, prim::add)) return false;
    for (int i = 0; i < 2; ++i)
      if (const int from = g.definition(g.root(g.id(g.t.entries[e].operands, i)));
          !is(from, prim::scatter) && !is(from, prim::add))
        return false;
  }
  return true;
}
/// Puts the steps last that scatter a region's results: a stage may then add the rows to sums, and never store the
/// arrays, most of which are zeros (run/stage/block_sums.hpp).
constexpr void put_scatters_last(steps_in_progress& g) {
  const int steps = g.loops.size();
  vec<bool> last(steps, false);
  for (int s = steps - 1; s >= 0; --s) {
    if (!only_scatters(g, s)) continue;
    const auto is_for_last = [&](int v) {
      for (int k = s + 1; k < steps; ++k)
        if (!last[k] && g.reads(k, v)) return false;
      return true;
    };
    last[s] = true;
    if (g.loops[s].empty()) last[s] = is_for_last(g.result(g.single(s)));
    for (int e : g.loops[s]) last[s] = last[s] && is_for_last(g.result(e));
  }
  vec<vec<int>> loops;
  vec<step> order;
  for (int turn = 0; turn < 2; ++turn)
    for (int s = 0; s < steps; ++s)
      if (last[s] == (turn == 1)) {
        for (int e : g.loops[s]) g.p.loop_of[g.result(e)] = g.step0 + loops.size();
        loops.push_back(g.loops[s]);
        order.push_back(g.p.steps[g.step0 + s]);
      }
  g.loops = loops;
  for (int s = 0; s < steps; ++s) g.p.steps[g.step0 + s] = order[s];
}

}  // namespace drx::plan
