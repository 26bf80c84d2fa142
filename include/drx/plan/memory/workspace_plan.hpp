// drx/plan/memory/workspace_plan.hpp: the plan of a program's steps and memory, and the queries used while it is made.
// Tested by tests/unit/plan/random_plans.cpp and tests/unit/plan/loop_memory.cpp.
#pragma once

#include <drx/plan/memory/products.hpp>

namespace drx::plan {

/// Where a value lies. A slot is a pointer that changes while running: an input, a member's share, a slice.
enum class space : std::int8_t { nowhere, server, thread, slot };
struct location {
  plan::space space = plan::space::nowhere;
  std::int64_t offset = 0;  // bytes; the number of a slot
};

/// One step of a region: a fused loop (its entries in `plan.members`), possibly after a matrix product and with sums
/// over its rows, or a single entry.
struct step {
  bool is_loop = false;
  int entry = -1;
  int first_member = 0;
  int members = 0;
  int sums = 0;  // entries after the members
};

inline constexpr int no_step = -1;

template <int Regions, int Entries, int Values>
struct workspace_plan {
  step steps[Entries + 1] = {};
  int first_step[Regions + 1] = {};
  int step_count[Regions + 1] = {};
  int members[Entries + 1] = {};       // entries, by fused loop
  int loop_of[Values + 1] = {};       // by value: the step that computes it in a fused loop, or no_step
  int member_of[Values + 1] = {};      // by value computed in a fused loop: its place there
  int definition[Values + 1] = {};     // by value: the entry that defines it, -1 for inputs
  bool stored[Values + 1] = {};        // whether it is written to memory
  int root[Values + 1] = {};           // the value whose memory it names
  location where[Values + 1] = {};
  location scratch[Entries + 1] = {};  // memory of a step beside its results; for a scan whose carries
                                       // change places: a copy of its outputs
  int slots = 0;
  std::int64_t server_bytes = 0;
  std::int64_t thread_bytes = 0;

  constexpr workspace_plan() {
    for (int& step : loop_of) step = no_step;
  }
};

/// A frozen tape and the plan of its steps and memory while it is made: the functions of plan/memory hand it on.
template <class Frozen>
struct plan_in_progress {
  using plan_type = workspace_plan<Frozen::sizes.regions, Frozen::sizes.entries, Frozen::sizes.values>;
  static constexpr int values = Frozen::sizes.values;

  const Frozen& t;
  plan_type p;
  vec<int> definition;  // by value: the entry that defines it, -1 for inputs
  int next_step = 0, next_member = 0;

  constexpr explicit plan_in_progress(const Frozen& f) : t(f), definition(values + 1, -1) {
    for (int v = 0; v < values; ++v) p.root[v] = v;
    for (int e = 0; e < Frozen::sizes.entries; ++e)
      for (int i = 0; i < t.entries[e].results.count; ++i) definition[id(t.entries[e].results, i)] = e;
  }

  constexpr int id(const span_of_pool& s, int i) const { return static_cast<int>(t.pool[s.first + i]); }
  static constexpr std::int64_t aligned(std::int64_t n) { return (n + machine::cache_line - 1) / machine::cache_line * machine::cache_line; }
  constexpr std::int64_t bytes(int v) const {
    return aligned(t.values[v].shape.size() * byte_size(t.values[v].type));
  }
  constexpr int root(int v) const {
    while (p.root[v] != v) v = p.root[v];
    return v;
  }
  /// The value whose memory a use of v reads, through aliases and virtual broadcasts; -1 for constants.
  constexpr int touched(int v) const {
    for (;;) {
      v = root(v);
      const int e = definition[v];
      if (e < 0 || p.stored[v] || t.entries[e].prim->role != role::virtual_) return v;
      if (t.entries[e].prim != &prim::broadcast_to) return -1;
      v = id(t.entries[e].operands, 0);
    }
  }
  template <class F>
  constexpr void for_each_entry(int s, F f) const {
    const step& now = p.steps[s];
    if (!now.is_loop) {
      f(now.entry);
    } else {
      for (int i = 0; i < now.members + now.sums; ++i) f(p.members[now.first_member + i]);
    }
  }
};

}  // namespace drx::plan
