// drx/plan/workspace.hpp: from a staged tape to steps and addresses, all at compile time. Elementwise entries of one
// shape gather into groups, each one loop; what is used inside of its loop only is never stored; the rest gets an
// offset in the workspace from its liveness, in place of an operand that dies where the shapes allow it. A product of
// matrices that one group alone reads becomes the group's first member.
#pragma once

#include <drx/plan/products.hpp>

namespace drx::plan {

/// Where a value lies. A slot is a pointer that changes while running: an input, a member's share, a slice.
enum class space : std::int8_t { nowhere, server, thread, slot };
struct location {
  plan::space space = plan::space::nowhere;
  std::int64_t offset = 0;  // bytes; for a slot its number
};

/// One step of a region: a group of elementwise entries (members in `plan.members`), perhaps after a product of matrices,
/// or a single entry.
struct step {
  bool group = false;
  int entry = -1;
  int first_member = 0;
  int members = 0;
};

enum class role : std::int8_t {
  step,      // an entry that is a step of its own
  fused,     // elementwise: a member of a group
  virtual_,  // constant, iota, broadcast_to: read where it is used
  alias      // reshape, stop_gradient: another name of its operand
};

constexpr role role_of(const primitive* p) {
  if (p->elementwise || p == &prim::cast) return role::fused;
  if (p == &prim::constant || p == &prim::iota || p == &prim::broadcast_to) return role::virtual_;
  if (p == &prim::reshape || p == &prim::stop_gradient) return role::alias;
  return role::step;
}

/// The most entries of one group: compilers take more than twice as long for a loop twice as long.
inline constexpr int group_limit = 64;

/// From so many bytes a stage writes a result of the program where the caller wants it.
inline constexpr std::int64_t large_output = 1 << 16;

template <int Regions, int Entries, int Values>
struct workspace_plan {
  step steps[Entries + 1] = {};
  int first_step[Regions + 1] = {};
  int step_count[Regions + 1] = {};
  int members[Entries + 1] = {};       // entries, grouped
  int group_of[Values + 1] = {};       // by value: 1 + the step that computes it in a group, 0 if none
  int member_of[Values + 1] = {};      // by value computed in a group: its place there
  int definition[Values + 1] = {};     // by value: the entry that defines it, -1 for inputs
  bool stored[Values + 1] = {};        // whether it is written to memory
  int root[Values + 1] = {};           // the value whose memory it names
  location where[Values + 1] = {};
  location scratch[Entries + 1] = {};  // memory of a step beside its results; of a scan whose body hands carries on
                                       // to each other: a copy of its outputs
  int slots = 0;
  std::int64_t server_bytes = 0;
  std::int64_t thread_bytes = 0;
};

/// Plans the workspace of a frozen, staged tape.
template <class Frozen>
class workspace_planner {
 public:
  using plan_type = workspace_plan<Frozen::sizes.regions, Frozen::sizes.entries, Frozen::sizes.values>;

  constexpr explicit workspace_planner(const Frozen& f) : t(f), definition(Frozen::sizes.values + 1, -1) {
    for (int v = 0; v < Frozen::sizes.values; ++v) p.root[v] = v;
    for (int e = 0; e < Frozen::sizes.entries; ++e)
      for (int i = 0; i < t.entries[e].results.count; ++i) definition[id(t.entries[e].results, i)] = e;
    for (int i = 0; i < t.regions[0].inputs.count; ++i) p.where[id(t.regions[0].inputs, i)] = {space::slot, p.slots++};
    p.server_bytes = region(0, space::server);
    resolve();
  }
  plan_type p;

 private:
  const Frozen& t;
  vec<int> definition;
  int next_step = 0, next_member = 0;

  struct block {
    int value;
    std::int64_t offset, bytes;
    int last;  // the last step that needs it
  };

  constexpr int id(const span_of_pool& s, int i) const { return static_cast<int>(t.pool[s.first + i]); }
  static constexpr std::int64_t aligned(std::int64_t n) { return (n + 63) / 64 * 64; }
  constexpr std::int64_t bytes(int v) const {
    return aligned(t.values[v].shape.size() * byte_size(t.values[v].type));
  }
  constexpr int root(int v) const {
    while (p.root[v] != v) v = p.root[v];
    return v;
  }
  /// The value whose memory a use of v reads: through aliases and virtual broadcasts; -1 for constants.
  constexpr int touched(int v) const {
    for (;;) {
      v = root(v);
      const int e = definition[v];
      if (e < 0 || p.stored[v] || role_of(t.entries[e].prim) != role::virtual_) return v;
      if (t.entries[e].prim != &prim::broadcast_to) return -1;
      v = id(t.entries[e].operands, 0);
    }
  }

  /// Whether operand i of x is a constant with which its kernel fills the result.
  constexpr bool fills(const frozen_entry& x, int i) const {
    const int e = definition[id(x.operands, i)];
    return x.prim == &prim::update_slice && i == 0 && e >= 0 && t.entries[e].prim == &prim::constant;
  }

  /// Plans region r, whose own values lie in `where`. Returns the bytes of its frame; offsets are relative to it.
  constexpr std::int64_t region(int r, space where) {
    const frozen_region& region = t.regions[r];
    const int first = region.first_entry, count = region.entries;

    // Who needs its result in memory: what a step, an alias, a broadcast or the outside reads.
    vec<bool> demanded(Frozen::sizes.values + 1, false);
    for (int e = first; e < first + count; ++e) {
      const auto& x = t.entries[e];
      const role how = role_of(x.prim);
      if (how != role::fused)
        for (int i = 0; i < x.operands.count; ++i)
          if (!fills(x, i)) demanded[id(x.operands, i)] = true;
    }
    for (int i = 0; i < region.outputs.count; ++i) demanded[id(region.outputs, i)] = true;

    // Steps.
    const int step0 = next_step;
    p.first_step[r] = step0;
    vec<int> at(Frozen::sizes.values + 1, -1);  // by value of this region: the step after which it can be read
    vec<vec<int>> groups;                       // by step, its members (empty for a single entry)
    auto after = [&](int v) { return v < 0 || at[v] < 0 ? -1 : at[v]; };
    for (int e = first; e < first + count; ++e) {
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
    move_to_readers(step0, groups, demanded);
    take_products(region, step0, groups);
    const int steps = groups.size();
    p.step_count[r] = steps;
    for (int s = 0; s < steps; ++s) {
      p.steps[step0 + s].first_member = next_member;
      p.steps[step0 + s].members = groups[s].size();
      for (int i = 0; i < groups[s].size(); ++i) {
        p.member_of[id(t.entries[groups[s][i]].results, 0)] = i;
        p.members[next_member++] = groups[s][i];
      }
    }

    // Liveness.
    vec<int> last(Frozen::sizes.values + 1, -1);
    auto use = [&](int v, int s) {
      const int m = touched(v);
      if (m >= 0 && last[m] < s) last[m] = s;
    };
    for (int s = 0; s < steps; ++s)
      for_each_entry(step0 + s, [&](int e) {
        const auto& x = t.entries[e];
        for (int i = 0; i < x.operands.count; ++i) {
          const int o = id(x.operands, i);
          if (p.group_of[o] != 1 + step0 + s) use(o, s);
        }
      });
    for (int i = 0; i < region.outputs.count; ++i) use(id(region.outputs, i), steps);

    // Addresses, step by step.
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
          if (t.values[v].depth > 0 || (r == 0 && x.prim == &prim::stage && is_large_output(v))) {  // its memory is the caller's
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

  /// Moves what one later group alone reads to that group, where it is made of what lies in memory anyway: 1 - h h of a stored h
  /// need not be stored beside it.
  constexpr void move_to_readers(int step0, vec<vec<int>>& groups, const vec<bool>& demanded) {
    constexpr int none = -1, several = -2, most_moved = 8;
    vec<int> reading_group(Frozen::sizes.values + 1, none), reading_entry(Frozen::sizes.values + 1, none);
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
              if (can && !contains(moved, definition[o])) moved.push_back(definition[o]);
            } else if (t.values[m].shape.size() == t.values[v].shape.size() && !contains(loads, m)) {
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
          if (!contains(moved, e)) {
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
  static constexpr bool contains(const vec<int>& all, int x) {
    for (int y : all)
      if (y == x) return true;
    return false;
  }

  /// Makes products of matrices the first members of the groups that alone read them.
  constexpr void take_products(const frozen_region& region, int step0, vec<vec<int>>& groups) {
    constexpr int none = -1, several = -2;
    vec<int> reader(Frozen::sizes.values + 1, none);  // by value: the group that reads it, each element at its place
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

    int kept = 0;
    for (int s = 0; s < groups.size(); ++s) {
      const step now = p.steps[step0 + s];
      if (now.group && groups[s].empty()) continue;  // it has moved
      if (!now.group && runs_in_tiles(t, t.entries[now.entry])) {
        const int v = id(t.entries[now.entry].results, 0), g = reader[v];
        if (g >= 0 && groups[g].size() < group_limit && may_follow_product(groups[g])) {
          vec<int> members{now.entry};
          members.append(groups[g]);
          groups[g] = members;
          p.stored[v] = false;
          continue;
        }
      }
      for (int e : groups[s]) p.group_of[id(t.entries[e].results, 0)] = 1 + step0 + kept;
      if (kept != s) groups[kept] = groups[s];
      p.steps[step0 + kept++] = now;
    }
    for (; next_step > step0 + kept; --next_step) p.steps[next_step - 1] = {};
    groups.resize(kept);
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

  template <class F>
  constexpr void for_each_entry(int s, F f) const {
    const step& now = p.steps[s];
    if (!now.group) {
      f(now.entry);
    } else {
      for (int i = 0; i < now.members; ++i) f(p.members[now.first_member + i]);
    }
  }

  /// What a step computes in beside its operands and results.
  constexpr std::int64_t scratch_bytes(const frozen_entry& x) const {
    if (x.operands.count == 0) return 0;
    const abstract_value first = t.values[id(x.operands, 0)];
    const std::int64_t n = first.shape.last(), size = byte_size(first.type);
    if (x.prim == &prim::determinant) return n > 3 ? n * n * size : 0;
    if (x.prim == &prim::cofactors) return n > 3 ? 2 * n * n * size : 0;
    if (x.prim == &prim::window_argmax) return n * size;
    if (x.prim == &prim::convolution && t.pool[x.ints.first + 1] == static_cast<std::int64_t>(prim::rules::convolution_role::x))
      return t.values[id(x.operands, 1)].shape.size() * size;
    return 0;
  }

  /// Whether the step s reads memory value m only at the element, of the same size, that it is about to write: a group does
  /// so, and an update of a part of m.
  constexpr bool read_in_place(int s, int m, int result) const {
    const bool update = !p.steps[s].group && t.entries[p.steps[s].entry].prim == &prim::update_slice;
    if (!p.steps[s].group && !update) return false;
    bool ok = t.values[m].shape == t.values[result].shape && byte_size(t.values[m].type) == byte_size(t.values[result].type);
    for_each_entry(s, [&](int e) {
      const auto& x = t.entries[e];
      for (int i = 0; i < x.operands.count; ++i) {
        const int o = id(x.operands, i);
        if (p.group_of[o] == 1 + s || touched(o) != m) continue;
        ok = ok && (root(o) == m) && t.values[o].shape == t.values[result].shape && x.prim != &prim::broadcast_to && x.prim != &prim::matmul && !(update && i > 0);
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
      if (to_threads) {  // every stage of the program has the threads' workspaces to itself
        p.thread_bytes = size > p.thread_bytes ? size : p.thread_bytes;
      } else {
        shift(r, place(size, s), where);
      }
    }
  }

  /// The branches lie in the same memory, since only one runs; each writes the results where they belong, if it makes them.
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

  /// Whether v is a result of the program that is not to be copied there.
  constexpr bool is_large_output(int v) const {
    for (int i = 0; i < t.regions[0].outputs.count; ++i)
      if (root(id(t.regions[0].outputs, i)) == v) return bytes(v) >= large_output;
    return false;
  }
  constexpr int carries_of(const frozen_entry& x) const { return static_cast<int>(t.pool[x.ints.first + 3]); }
  /// Whether a body's output for carry k lies in the memory of another carry.
  constexpr bool exchanges_carries(const frozen_entry& x, const frozen_region& inner, int k) const {
    for (int i = 0; i < carries_of(x); ++i)
      if (i != k && root(id(inner.outputs, k)) == id(x.results, i)) return true;
    return false;
  }

  constexpr int block_bodies(const frozen_entry& x) const { return (t.pool[x.ints.first + 1] != 0) + (t.pool[x.ints.first + 2] != 0); }

  /// Gives the inputs of a region their places.
  constexpr void connect(const frozen_entry& x, int k, const frozen_region& inner, space) {
    auto slot = [&](int v) { p.where[v] = {space::slot, p.slots++}; };
    if (x.prim == &prim::scan) {
      const int constants = static_cast<int>(t.pool[x.ints.first + 2]), carries = static_cast<int>(t.pool[x.ints.first + 3]);
      for (int i = 0; i < inner.inputs.count; ++i) {
        const int v = id(inner.inputs, i);
        if (i >= 1 && i <= constants) {
          p.root[v] = id(x.operands, i - 1);
        } else if (i > constants && i <= constants + carries) {
          p.root[v] = id(x.results, i - 1 - constants);
        } else {
          slot(v);  // the index, slices of xs
        }
      }
    } else if (x.prim == &prim::stage && k <= block_bodies(x)) {
      const int placed = static_cast<int>(t.pool[x.ints.first]);
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

  /// Lets a loop's body write a carry where it was read, where nothing reads it later.
  constexpr void carry_in_place(const frozen_entry& x, const frozen_region& inner) {
    const int r = static_cast<int>(&inner - t.regions);
    const int constants = static_cast<int>(t.pool[x.ints.first + 2]), carries = static_cast<int>(t.pool[x.ints.first + 3]);
    for (int k = 0; k < carries; ++k) {
      const int in = id(inner.inputs, 1 + constants + k), out = root(id(inner.outputs, k)), memory = id(x.results, k);
      const int group = p.group_of[out] - 1;
      if (definition[out] < inner.first_entry || definition[out] >= inner.first_entry + inner.entries) continue;
      int uses = 0;  // the output leaves the loop once only
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
