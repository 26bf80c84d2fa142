// drx/plan/memory/workspace.hpp: from a staged tape to steps and addresses, at compile time. By liveness, each value
// that the steps store gets an offset in the workspace, in place of an operand that dies if the shapes allow it.
#pragma once

#include <drx/plan/memory/steps.hpp>

namespace drx::plan {

/// From this many bytes on, a stage or a product writes a result of the program where the caller wants it.
inline constexpr std::int64_t large_output = 1 << 16;

/// Plans the workspace of a frozen, staged tape.
template <class Frozen>
class workspace_planner : public step_planner<Frozen> {
  using base = step_planner<Frozen>;
  using base::t, base::definition, base::id, base::root, base::touched, base::bytes, base::aligned, base::for_each_entry;

 public:
  using base::p;

  constexpr explicit workspace_planner(const Frozen& f) : base(f) {
    for (int i = 0; i < t.regions[0].inputs.count; ++i) p.where[id(t.regions[0].inputs, i)] = {space::slot, p.slots++};
    p.server_bytes = region(0, space::server);
    resolve();
  }

 private:
  struct block {
    int value;
    std::int64_t offset, bytes;
    int last;  // the last step that needs it
  };

  /// Plans region r, whose own values lie in `where`. Returns the bytes of its frame; offsets are relative to it.
  constexpr std::int64_t region(int r, space where) {
    base::make_steps(r);
    return addresses(r, where, last_uses(r));
  }

  /// By value: the last step of region r that reads its memory, -1 if none does; the number of steps for values that
  /// leave the region.
  constexpr vec<int> last_uses(int r) const {
    const int step0 = p.first_step[r], steps = p.step_count[r];
    const frozen_region& region = t.regions[r];
    vec<int> last(base::values + 1, -1);
    auto use = [&](int v, int s) {
      const int m = touched(v);
      if (m >= 0 && last[m] < s) last[m] = s;
    };
    for (int s = 0; s < steps; ++s)
      for_each_entry(step0 + s, [&](int e) {
        const auto& x = t.entries[e];
        for (int i = 0; i < x.operands.count; ++i) {
          const int o = id(x.operands, i);
          if (p.group_of[o] != step0 + s) use(o, s);
        }
      });
    for (int i = 0; i < region.outputs.count; ++i) use(id(region.outputs, i), steps);
    return last;
  }

  /// Gives each value that the steps of region r store its place, step by step. Returns the bytes of its frame.
  constexpr std::int64_t addresses(int r, space where, const vec<int>& last) {
    const int step0 = p.first_step[r], steps = p.step_count[r];
    vec<block> live;
    std::int64_t frame = 0;
    auto place = [&](std::int64_t size, int s) {  // first fit
      std::int64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (const block& b : live)
          if (b.last >= s && offset < b.offset + b.bytes && b.offset < offset + size) {
            offset = b.offset + b.bytes;
            moved = true;
          }
      }
      frame = offset + size > frame ? offset + size : frame;
      return offset;
    };
    for (int s = 0; s < steps; ++s) {
      const step& now = p.steps[step0 + s];
      int still = 0;
      for (int k = 0; k < live.size(); ++k)
        if (live[k].last >= s) live[still++] = live[k];
      live.resize(still);
      for_each_entry(step0 + s, [&](int e) {
        const auto& x = t.entries[e];
        for (int i = 0; i < x.results.count; ++i) {
          const int v = id(x.results, i);
          if (!p.stored[v] || root(v) != v) continue;
          if (t.values[v].depth > 0 || (r == 0 && !now.group && (x.prim == &prim::stage || x.prim == &prim::matmul) && is_large_output(v))) {  // its memory is the caller's
            p.where[v] = {space::slot, p.slots++};
            continue;
          }
          const int end = last[v] < s ? s : last[v];
          int reused = -1;
          for (int k = 0; k < live.size() && reused < 0; ++k)
            if (live[k].last == s && live[k].bytes == bytes(v) && read_in_place(step0 + s, live[k].value, v)) reused = k;
          if (reused >= 0) {
            live[reused].value = v;
            live[reused].last = end;
            p.where[v] = {where, live[reused].offset};
          } else {
            const std::int64_t offset = place(bytes(v), s);
            live.push_back({v, offset, bytes(v), end});
            p.where[v] = {where, offset};
          }
        }
      });
      if (now.group) continue;
      const auto& x = t.entries[now.entry];
      if (const std::int64_t extra = scratch_bytes(x); extra > 0) p.scratch[now.entry] = {where, place(aligned(extra), s)};
      frames_of_regions(now.entry, s, where, place);
    }
    return frame;
  }

  /// The bytes in which a step computes, beside its operands and results.
  constexpr std::int64_t scratch_bytes(const frozen_entry& x) const {
    if (!x.prim->scratch) return 0;
    vec<abstract_value> operands;
    for (int i = 0; i < x.operands.count; ++i) operands.push_back(t.values[id(x.operands, i)]);
    return x.prim->scratch(operands, t.attributes(x));
  }

  /// Whether step s reads memory value m only at the element, of the same size, that it is about to write: a fused loop
  /// does so, and an update of a part of m.
  constexpr bool read_in_place(int s, int m, int result) const {
    const bool update = !p.steps[s].group && t.entries[p.steps[s].entry].prim->in_place;
    if (!p.steps[s].group && !update) return false;
    bool ok = t.values[m].shape == t.values[result].shape && byte_size(t.values[m].type) == byte_size(t.values[result].type);
    for_each_entry(s, [&](int e) {
      const auto& x = t.entries[e];
      for (int i = 0; i < x.operands.count; ++i) {
        const int o = id(x.operands, i);
        if (p.group_of[o] == s || touched(o) != m) continue;
        const bool elsewhere = x.prim == &prim::matmul && !(base::is_sum(s, e) && i == 0);
        ok = ok && (root(o) == m) && t.values[o].shape == t.values[result].shape && x.prim != &prim::broadcast_to && !elsewhere && !(update && i > 0);
      }
    });
    return ok;
  }

  template <class Place>
  constexpr void frames_of_regions(int e, int s, space where, Place place) {
    const auto& x = t.entries[e];
    if (x.prim == &prim::cond) return frames_of_branches(x, s, where, place);
    for (int k = 0; k < x.regions; ++k) {
      const int r = x.first_region + k;
      const auto& inner = t.regions[r];
      const bool to_threads = x.prim == &prim::stage && where == space::server;
      const space inner_space = to_threads ? space::thread : where;
      connect(x, k, inner, inner_space);
      const std::int64_t size = region(r, inner_space);
      if (x.prim == &prim::scan) {
        carry_in_place(x, inner);
        std::int64_t copies = 0;
        for (int i = 0; i < carries_of(x); ++i)
          if (t.values[id(x.results, i)].depth == 0 && exchanges_carries(x, inner, i)) copies += bytes(id(x.results, i));
        if (copies > 0) p.scratch[e] = {where, place(size + copies, s) + size};
      }
      if (to_threads) {  // each stage of the program may use all of the threads' workspaces
        p.thread_bytes = size > p.thread_bytes ? size : p.thread_bytes;
      } else {
        shift(r, place(size, s), where);
      }
    }
  }

  /// Both branches lie in the same memory, since only one runs; each writes the results where they belong, if it
  /// computes them.
  template <class Place>
  constexpr void frames_of_branches(const frozen_entry& x, int s, space where, Place place) {
    std::int64_t size = 0;
    for (int k = 0; k < x.regions; ++k) {
      const auto& branch = t.regions[x.first_region + k];
      for (int i = 0; i < branch.inputs.count; ++i) p.root[id(branch.inputs, i)] = id(x.operands, i + 1);
      const std::int64_t own = region(x.first_region + k, where);
      size = own > size ? own : size;
      for (int i = 0; i < branch.outputs.count; ++i) {
        const int out = root(id(branch.outputs, i));
        const bool made_here = definition[out] >= branch.first_entry && definition[out] < branch.first_entry + branch.entries;
        if (made_here && t.values[out].depth == 0) p.root[out] = id(x.results, i);
      }
    }
    const std::int64_t offset = place(size, s);
    for (int k = 0; k < x.regions; ++k) shift(x.first_region + k, offset, where);
  }

  /// Whether v is a result of the program that is written in place and not copied.
  constexpr bool is_large_output(int v) const {
    for (int i = 0; i < t.regions[0].outputs.count; ++i)
      if (root(id(t.regions[0].outputs, i)) == v) return bytes(v) >= large_output;
    return false;
  }
  constexpr int carries_of(const frozen_entry& x) const { return prim::rules::scan::view(t.attributes(x)).carries; }
  /// Whether a body's output for carry k lies in the memory of another carry.
  constexpr bool exchanges_carries(const frozen_entry& x, const frozen_region& inner, int k) const {
    for (int i = 0; i < carries_of(x); ++i)
      if (i != k && root(id(inner.outputs, k)) == id(x.results, i)) return true;
    return false;
  }

  /// Sets the places of a region's inputs.
  constexpr void connect(const frozen_entry& x, int k, const frozen_region& inner, space) {
    auto slot = [&](int v) { p.where[v] = {space::slot, p.slots++}; };
    if (x.prim == &prim::scan) {
      const prim::rules::scan::view loop(t.attributes(x));
      for (int i = 0; i < inner.inputs.count; ++i) {
        const int v = id(inner.inputs, i);
        if (loop.is_constant(i - 1)) {
          p.root[v] = id(x.operands, i - 1);
        } else if (loop.is_carry(i - 1)) {
          p.root[v] = id(x.results, i - 1 - loop.constants);
        } else {
          slot(v);  // the index, slices of xs
        }
      }
    } else if (x.prim == &prim::stage && k <= prim::rules::stage::view(t.attributes(x)).block_bodies()) {
      const int placed = prim::rules::stage::view(t.attributes(x)).placed;
      for (int i = 0; i < inner.inputs.count; ++i) {
        const int v = id(inner.inputs, i);
        if (i <= placed) {
          slot(v);  // the index, the member's shares
        } else {
          p.root[v] = id(x.operands, i - 1);
        }
      }
    } else {  // a monoid's combine
      for (int i = 0; i < inner.inputs.count; ++i) slot(id(inner.inputs, i));
    }
  }

  /// Lets a loop's body write a carry where it was read, if nothing reads that later.
  constexpr void carry_in_place(const frozen_entry& x, const frozen_region& inner) {
    const int r = static_cast<int>(&inner - t.regions);
    const int constants = prim::rules::scan::view(t.attributes(x)).constants;
    for (int k = 0; k < carries_of(x); ++k) {
      const int in = id(inner.inputs, 1 + constants + k), out = root(id(inner.outputs, k)), memory = id(x.results, k);
      const int group = p.group_of[out];
      if (definition[out] < inner.first_entry || definition[out] >= inner.first_entry + inner.entries) continue;
      int uses = 0;  // the output leaves the loop only once
      for (int i = 0; i < inner.outputs.count; ++i) uses += touched(id(inner.outputs, i)) == out || touched(id(inner.outputs, i)) == root(in);
      if (uses != 1 || t.values[out].depth > 0 || t.values[out].shape != t.values[in].shape) continue;
      const int defined = group >= 0 ? group : step_of(r, definition[out]);
      bool free = true;
      for (int s = p.first_step[r]; s < p.first_step[r] + p.step_count[r] && free; ++s) {
        bool reads = false;
        for_each_entry(s, [&](int e) {
          for (int i = 0; i < t.entries[e].operands.count; ++i) reads = reads || touched(id(t.entries[e].operands, i)) == memory;
        });
        if (!reads) continue;
        free = s < defined || (s == defined && read_in_place(s, memory, out));
      }
      if (free) p.root[out] = memory;
    }
  }
  constexpr int step_of(int r, int e) const {
    for (int s = p.first_step[r]; s < p.first_step[r] + p.step_count[r]; ++s)
      if (p.steps[s].entry == e) return s;
    return -1;
  }

  /// Moves the frame of region r, and of all regions in it, to an offset of the frame around it. (The bodies of stages
  /// in a loop of the server lie in the threads' workspaces, which do not move.)
  constexpr void shift(int r, std::int64_t offset, space where) {
    const auto& region = t.regions[r];
    for (int e = region.first_entry; e < region.first_entry + region.entries; ++e) {
      const auto& x = t.entries[e];
      for (int i = 0; i < x.results.count; ++i) {
        location& l = p.where[id(x.results, i)];
        if (l.space == where) l.offset += offset;
      }
      if (p.scratch[e].space == where) p.scratch[e].offset += offset;
      for (int k = 0; k < x.regions; ++k) shift(x.first_region + k, offset, where);
    }
  }
  constexpr void resolve() {
    for (int v = 0; v < Frozen::sizes.values; ++v) {
      if (root(v) != v) p.where[v] = p.where[root(v)];
      p.definition[v] = definition[v];
    }
  }
};

/// A program's staged tape and the plan of its workspace, as constants.
template <class Program>
struct lowered {
  static constexpr const auto& tape = staged_program<Program>::tape_constant();
  static constexpr mesh_axes mesh = staged_program<Program>::mesh;
  using frozen_type = std::remove_cvref_t<decltype(tape)>;
  static constexpr auto plan = workspace_planner<frozen_type>(tape).p;
};

}  // namespace drx::plan
