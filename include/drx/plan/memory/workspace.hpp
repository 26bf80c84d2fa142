// drx/plan/memory/workspace.hpp: from a staged tape to steps and addresses, at compile time. By liveness, each value
// that the steps store gets an offset in the workspace, in place of an operand that dies if the shapes allow it.
#pragma once

#include <drx/plan/memory/joined_values.hpp>
#include <drx/plan/memory/steps.hpp>

namespace drx::plan {

/// A value in memory while the steps of a region are gone through.
struct stored_block {
  int value;  // -1: several lie there
  std::int64_t offset, bytes;
  int last;  // the last step that needs it
};

/// The memory of a frame while it is laid out: a block goes to the first place that is free when it is needed. (A type,
/// and no lambda: clang instantiates the functions that take it too late for a constant that a concept asks for.)
struct frame_memory {
  const vec<stored_block>& live;
  std::int64_t& frame;  // its bytes so far

  /// The offset of a block of `size` bytes that step s needs.
  constexpr std::int64_t operator()(std::int64_t size, int s) const {
    std::int64_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const stored_block& b : live)
        if (b.last >= s && offset < b.offset + b.bytes && b.offset < offset + size) {
          offset = b.offset + b.bytes;
          moved = true;
        }
    }
    frame = offset + size > frame ? offset + size : frame;
    return offset;
  }
};

// The functions below, from the outermost in.
constexpr by_value<int> last_uses(const plan_in_progress& w, int r);
constexpr std::int64_t addresses(plan_in_progress& w, int r, space where, const by_value<int>& last, int around);
constexpr by_value<bool> written_in_place(const plan_in_progress& w, int r, space where, int around);
constexpr void mark_written_to_stacks(const plan_in_progress& w, const frozen_entry& x, const frozen_region& body,
                                      by_value<bool>& in_stack);
constexpr bool made_in(const plan_in_progress& w, const frozen_region& region, int v);
constexpr std::int64_t scratch_bytes(const plan_in_progress& w, const frozen_entry& x);
constexpr bool read_in_place(const plan_in_progress& w, int s, int m, int result);
constexpr void frames_of_regions(plan_in_progress& w, int e, int s, space where, frame_memory place);
constexpr void frames_of_branches(plan_in_progress& w, const frozen_entry& x, int s, space where, frame_memory place);
constexpr bool is_large_output(const plan_in_progress& w, int v);
constexpr int carries_of(const plan_in_progress& w, const frozen_entry& x);
constexpr bool exchanges_carries(const plan_in_progress& w, const frozen_entry& x, const frozen_region& inner, int k);
constexpr void connect_inputs(plan_in_progress& w, const frozen_entry& x, int k, const frozen_region& inner);
constexpr void carry_in_place(plan_in_progress& w, const frozen_entry& x, const frozen_region& inner);
constexpr int step_of(const plan_in_progress& w, int r, int e);
constexpr void shift_frame(plan_in_progress& w, int r, std::int64_t offset, space where);

/// Plans region r of entry `around`, whose own values lie in `where`. Returns the bytes of its frame; offsets are
/// relative to it.
constexpr std::int64_t plan_region(plan_in_progress& w, int r, space where, int around = -1) {
  make_steps(w, r);
  return addresses(w, r, where, last_uses(w, r), around);
}

/// By value: the last step of region r that reads its memory, -1 if none does; the number of steps for values that
/// leave the region.
constexpr by_value<int> last_uses(const plan_in_progress& w, int r) {
  const int step0 = w.p.first_step[r], steps = w.p.step_count[r];
  const frozen_region& region = w.t.regions[r];
  by_value<int> last(w.values_of[r], -1);
  auto use = [&](int v, int s) {
    w.for_each_touched(v, [&](int m) {
      if (last.has(m)) last[m] = last[m] < s ? s : last[m];
    });
  };
  for (int s = 0; s < steps; ++s)
    w.for_each_entry(step0 + s, [&](int e) {
      const auto& x = w.t.entries[e];
      for (int i = 0; i < x.operands.count; ++i) {
        const int o = w.id(x.operands, i);
        if (w.p.loop_of[o] != step0 + s) use(o, s);
      }
    });
  for (int i = 0; i < region.outputs.count; ++i) use(w.id(region.outputs, i), steps);
  return last;
}

/// Gives each value that the steps of region r store its place, step by step. Returns the bytes of its frame.
constexpr std::int64_t addresses(plan_in_progress& w, int r, space where, const by_value<int>& last, int around) {
  const by_value<bool> in_place = written_in_place(w, r, where, around);
  const parts_by_value parts = parts_of_joined(w, r, in_place);
  const values_of_region& values = w.values_of[r];
  by_value<int> last_of_parts;
  if (!parts.empty()) {
    last_of_parts = by_value<int>(values, -1);
    for (int v = values.first; v < values.first + values.count; ++v)
      if (const int whole = parts[v].whole; whole >= 0)
        last_of_parts[whole] = std::max({last_of_parts[whole], last[v], last[whole]});
  }
  by_value<bool> placed(values, false);
  const int step0 = w.p.first_step[r], steps = w.p.step_count[r];
  vec<stored_block> live;
  std::int64_t frame = 0;
  frame_memory place{live, frame};
  for (int s = 0; s < steps; ++s) {
    const step& now = w.p.steps[step0 + s];
    int still = 0;
    for (int k = 0; k < live.size(); ++k)
      if (live[k].last >= s) live[still++] = live[k];
    live.resize(still);
    w.for_each_entry(step0 + s, [&](int e) {
      const auto& x = w.t.entries[e];
      for (int i = 0; i < x.results.count; ++i) {
        const int v = w.id(x.results, i);
        if (!w.p.stored[v] || w.root(v) != v) continue;
        if (w.t.values[v].depth > 0 || in_place[v] ||
            (r == 0 && !now.is_loop && (x.prim == &prim::stage || x.prim == &prim::matmul) &&
             is_large_output(w, v))) {  // its memory is the caller's
          w.p.where[v] = {space::slot, w.p.slots++};
          continue;
        }
        if (placed[v]) continue;
        const auto [whole, within] = parts[v];
        if (whole >= 0) {  // the whole gets its place with its first part
          if (!placed[whole]) {
            const std::int64_t offset = place(w.bytes(whole), s);
            live.push_back({-1, offset, w.bytes(whole), last_of_parts[whole]});
            w.p.where[whole] = {where, offset};
            placed[whole] = true;
          }
          w.p.where[v] = {where, w.p.where[whole].offset + within};
          continue;
        }
        const int end = last[v] < s ? s : last[v];
        int reused = -1;
        for (int k = 0; k < live.size() && reused < 0; ++k)
          if (live[k].value >= 0 && live[k].last == s && live[k].bytes == w.bytes(v) &&
              read_in_place(w, step0 + s, live[k].value, v))
            reused = k;
        if (reused >= 0) {
          live[reused].value = v;
          live[reused].last = end;
          w.p.where[v] = {where, live[reused].offset};
        } else {
          const std::int64_t offset = place(w.bytes(v), s);
          live.push_back({v, offset, w.bytes(v), end});
          w.p.where[v] = {where, offset};
        }
      }
    });
    if (now.is_loop) continue;
    const auto& x = w.t.entries[now.entry];
    if (const std::int64_t extra = scratch_bytes(w, x); extra > 0)
      w.p.scratch[now.entry] = {where, place(w.aligned(extra), s)};
    frames_of_regions(w, now.entry, s, where, place);
  }
  return frame;
}

/// By value: whether it is computed where a result of the entry around region r has it: a row of a loop's stack, or a
/// large result of one member that a stage collects. (Not if that is a result of the program, which may lie where the
/// program's arguments are.)
constexpr by_value<bool> written_in_place(const plan_in_progress& w, int r, space where, int around) {
  by_value<bool> in_place(w.values_of[r], false);
  if (around < 0) return in_place;
  const auto& x = w.t.entries[around];
  const frozen_region& body = w.t.regions[r];
  if (x.prim == &prim::scan) {
    mark_written_to_stacks(w, x, body, in_place);
    return in_place;
  }
  if (x.prim != &prim::stage || r != x.first_region || where != space::thread) return in_place;
  const prim::rules::stage::view stage(w.t.attributes(x));
  const auto is_result = [&](const frozen_region& of, int v) {
    int n = 0;
    for (int i = 0; i < of.outputs.count; ++i) n += w.root(w.id(of.outputs, i)) == v;
    return n;
  };
  for (int i = 0; i < stage.results; ++i) {
    const int v = w.root(w.id(body.outputs, i));
    if (made_in(w, body, v))
      in_place[v] = stage.fold_of(i) == fold::collect && w.t.values[v].depth == 0 &&
                    w.bytes(v) >= machine::large_output && is_result(body, v) == 1 &&
                    is_result(w.t.regions[0], w.root(w.id(x.results, i))) == 0;
  }
  return in_place;
}
/// Marks the values that the body of loop x makes and stacks, carried or not. (A placed value has other members' rows
/// between its own.)
constexpr void mark_written_to_stacks(const plan_in_progress& w, const frozen_entry& x, const frozen_region& body,
                                      by_value<bool>& in_stack) {
  for (int i = carries_of(w, x); i < body.outputs.count; ++i) {
    const int v = w.root(w.id(body.outputs, i));
    if (made_in(w, body, v)) in_stack[v] = w.t.values[v].depth == 0;
  }
}
/// Whether an entry of this region makes v; entries of regions in it do not count.
constexpr bool made_in(const plan_in_progress& w, const frozen_region& region, int v) {
  const int made = w.p.definition[v];
  return made >= region.first_entry && made < region.first_entry + region.entries;
}

/// The bytes in which a step computes, beside its operands and results.
constexpr std::int64_t scratch_bytes(const plan_in_progress& w, const frozen_entry& x) {
  if (!x.prim->scratch) return 0;
  vec<abstract_value> operands;
  for (int i = 0; i < x.operands.count; ++i) operands.push_back(w.t.values[w.id(x.operands, i)]);
  return x.prim->scratch(operands, w.t.attributes(x));
}

/// Whether step s reads memory value m only at the element, of the same size, that it is about to write: a fused loop
/// does so, and an update of a part of m.
constexpr bool read_in_place(const plan_in_progress& w, int s, int m, int result) {
  const bool update = !w.p.steps[s].is_loop && w.t.entries[w.p.steps[s].entry].prim->in_place;
  if (!w.p.steps[s].is_loop && !update) return false;
  bool ok = w.t.values[m].shape == w.t.values[result].shape &&
            byte_size(w.t.values[m].type) == byte_size(w.t.values[result].type);
  w.for_each_entry(s, [&](int e) {
    const auto& x = w.t.entries[e];
    for (int i = 0; i < x.operands.count; ++i) {
      const int o = w.id(x.operands, i);
      if (w.p.loop_of[o] == s || !w.touches(o, m)) continue;
      const bool elsewhere = x.prim == &prim::matmul && !(is_row_sum(w, s, e) && i == 0);
      ok = ok && (w.root(o) == m) && w.t.values[o].shape == w.t.values[result].shape && x.prim != &prim::broadcast_to &&
           !elsewhere && !(update && i > 0);
    }
  });
  return ok;
}

constexpr void frames_of_regions(plan_in_progress& w, int e, int s, space where, frame_memory place) {
  const auto& x = w.t.entries[e];
  if (x.prim == &prim::cond) return frames_of_branches(w, x, s, where, place);
  for (int k = 0; k < x.regions; ++k) {
    const int r = x.first_region + k;
    const auto& inner = w.t.regions[r];
    const bool to_threads = x.prim == &prim::stage && where == space::server;
    const space inner_space = to_threads ? space::thread : where;
    connect_inputs(w, x, k, inner);
    const std::int64_t size = plan_region(w, r, inner_space, to_threads || x.prim == &prim::scan ? e : -1);
    if (x.prim == &prim::scan) {
      carry_in_place(w, x, inner);
      std::int64_t copies = 0;
      for (int i = 0; i < carries_of(w, x); ++i)
        if (w.t.values[w.id(x.results, i)].depth == 0 && exchanges_carries(w, x, inner, i))
          copies += w.bytes(w.id(x.results, i));
      if (copies > 0) w.p.scratch[e] = {where, place(size + copies, s) + size};
    }
    if (to_threads) {  // each stage of the program may use all of the threads' workspaces
      w.p.thread_bytes = size > w.p.thread_bytes ? size : w.p.thread_bytes;
    } else {
      shift_frame(w, r, place(size, s), where);
    }
  }
}

/// Both branches lie in the same memory, since only one runs; each writes the results where they belong, if it
/// computes them.
constexpr void frames_of_branches(plan_in_progress& w, const frozen_entry& x, int s, space where, frame_memory place) {
  std::int64_t size = 0;
  for (int k = 0; k < x.regions; ++k) {
    const auto& branch = w.t.regions[x.first_region + k];
    for (int i = 0; i < branch.inputs.count; ++i) w.p.root[w.id(branch.inputs, i)] = w.id(x.operands, i + 1);
    const std::int64_t own = plan_region(w, x.first_region + k, where);
    size = own > size ? own : size;
    for (int i = 0; i < branch.outputs.count; ++i) {
      const int out = w.root(w.id(branch.outputs, i));
      if (made_in(w, branch, out) && w.t.values[out].depth == 0) w.p.root[out] = w.id(x.results, i);
    }
  }
  const std::int64_t offset = place(size, s);
  for (int k = 0; k < x.regions; ++k) shift_frame(w, x.first_region + k, offset, where);
}

/// Whether v is a result of the program that is written in place and not copied.
constexpr bool is_large_output(const plan_in_progress& w, int v) {
  for (int i = 0; i < w.t.regions[0].outputs.count; ++i)
    if (w.root(w.id(w.t.regions[0].outputs, i)) == v) return w.bytes(v) >= machine::large_output;
  return false;
}
constexpr int carries_of(const plan_in_progress& w, const frozen_entry& x) {
  return prim::rules::scan::view(w.t.attributes(x)).carries;
}
/// Whether a body's output for carry k lies in the memory of another carry.
constexpr bool exchanges_carries(const plan_in_progress& w, const frozen_entry& x, const frozen_region& inner, int k) {
  for (int i = 0; i < carries_of(w, x); ++i)
    if (i != k && w.root(w.id(inner.outputs, k)) == w.id(x.results, i)) return true;
  return false;
}

/// Sets the places of a region's inputs.
constexpr void connect_inputs(plan_in_progress& w, const frozen_entry& x, int k, const frozen_region& inner) {
  auto slot = [&](int v) { w.p.where[v] = {space::slot, w.p.slots++}; };
  if (x.prim == &prim::scan) {
    const prim::rules::scan::view loop(w.t.attributes(x));
    for (int i = 0; i < inner.inputs.count; ++i) {
      const int v = w.id(inner.inputs, i);
      if (loop.is_constant(i - 1)) {
        w.p.root[v] = w.id(x.operands, i - 1);
      } else if (loop.is_carry(i - 1)) {
        w.p.root[v] = w.id(x.results, i - 1 - loop.constants);
      } else {
        slot(v);  // the index, slices of xs
      }
    }
  } else if (x.prim == &prim::stage && k < prim::rules::stage::view(w.t.attributes(x)).bodies()) {
    const int placed = prim::rules::stage::view(w.t.attributes(x)).placed;
    for (int i = 0; i < inner.inputs.count; ++i) {
      const int v = w.id(inner.inputs, i);
      if (i <= placed && k > 0) {  // one body runs at a time: those of blocks have the slots of one member's
        w.p.where[v] = w.p.where[w.id(w.t.regions[x.first_region].inputs, i)];
      } else if (i <= placed) {
        slot(v);  // the index, the member's shares
      } else {
        w.p.root[v] = w.id(x.operands, i - 1);
      }
    }
  } else {  // a monoid's combine
    for (int i = 0; i < inner.inputs.count; ++i) slot(w.id(inner.inputs, i));
  }
}

/// Lets a loop's body write a carry where it was read, if nothing reads that later. (The carry that a step finds is
/// stacked before.)
constexpr void carry_in_place(plan_in_progress& w, const frozen_entry& x, const frozen_region& inner) {
  const int r = static_cast<int>(&inner - w.t.regions);
  const int constants = prim::rules::scan::view(w.t.attributes(x)).constants;
  for (int k = 0; k < carries_of(w, x); ++k) {
    const int in = w.id(inner.inputs, 1 + constants + k), out = w.root(w.id(inner.outputs, k)),
              memory = w.id(x.results, k);
    const int loop = w.p.loop_of[out];
    if (!made_in(w, inner, out)) continue;
    int uses = 0;  // the output leaves the loop only once
    for (int i = 0; i < inner.outputs.count; ++i) {
      const int o = w.id(inner.outputs, i);
      if (i >= carries_of(w, x) && is_name_of(w.p, o, in)) continue;
      uses += w.touched(o) == out || w.touched(o) == w.root(in);
    }
    if (uses != 1 || w.t.values[out].depth > 0 || w.t.values[out].shape != w.t.values[in].shape) continue;
    const int defined = loop >= 0 ? loop : step_of(w, r, w.p.definition[out]);
    bool free = true;
    for (int s = w.p.first_step[r]; s < w.p.first_step[r] + w.p.step_count[r] && free; ++s) {
      bool reads = false;
      w.for_each_entry(s, [&](int e) {
        for (int i = 0; i < w.t.entries[e].operands.count; ++i)
          reads = reads || w.touches(w.id(w.t.entries[e].operands, i), memory);
      });
      if (!reads) continue;
      free = s < defined || (s == defined && read_in_place(w, s, memory, out));
    }
    if (free) w.p.root[out] = memory;
  }
}
constexpr int step_of(const plan_in_progress& w, int r, int e) {
  for (int s = w.p.first_step[r]; s < w.p.first_step[r] + w.p.step_count[r]; ++s)
    if (w.p.steps[s].entry == e) return s;
  return -1;
}

/// Moves the frame of region r, and of all regions in it, to an offset of the frame around it. (The bodies of stages
/// in a loop of the server lie in the threads' workspaces, which do not move.)
constexpr void shift_frame(plan_in_progress& w, int r, std::int64_t offset, space where) {
  const auto& region = w.t.regions[r];
  for (int e = region.first_entry; e < region.first_entry + region.entries; ++e) {
    const auto& x = w.t.entries[e];
    for (int i = 0; i < x.results.count; ++i) {
      location& l = w.p.where[w.id(x.results, i)];
      if (l.space == where) l.offset += offset;
    }
    if (w.p.scratch[e].space == where) w.p.scratch[e].offset += offset;
    for (int k = 0; k < x.regions; ++k) shift_frame(w, x.first_region + k, offset, where);
  }
}
constexpr void resolve_names(plan_in_progress& w) {
  for (int v = 0; v < w.values; ++v) {
    if (w.root(v) != v) w.p.where[v] = w.p.where[w.root(v)];
  }
}

/// Plans the workspace of a frozen, staged tape.
constexpr void plan_workspace(plan_in_progress& w) {
  for (int i = 0; i < w.t.regions[0].inputs.count; ++i)
    w.p.where[w.id(w.t.regions[0].inputs, i)] = {space::slot, w.p.slots++};
  w.p.server_bytes = plan_region(w, 0, space::server);
  resolve_names(w);
}
constexpr workspace_plan workspace_of(const frozen_view& tape, std::int64_t least_row = machine::least_rearranged_row) {
  plan_in_progress w(tape, least_row);
  plan_workspace(w);
  return std::move(w.p);
}

/// A program's staged tape and the plan of its workspace, as constants.
template <class Program>
struct lowered {
  static constexpr const auto& tape = staged_program<Program>::tape_constant();
  static constexpr mesh_axes mesh = staged_program<Program>::mesh;
  static constexpr auto plan =
      frozen_plan<tape.sizes.regions, tape.sizes.entries, tape.sizes.values>::of(workspace_of(tape.view()));
};
/// The class with these constants that a program runs by. (Where it was planned by an executable, a generated header
/// specialises this.)
template <class Program>
struct lowering {
  using type = lowered<Program>;
};
template <class Program>
using lowered_t = typename lowering<Program>::type;

}  // namespace drx::plan
