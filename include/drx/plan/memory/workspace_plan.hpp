// drx/plan/memory/workspace_plan.hpp: the plan of a program's steps and memory, and the queries used while it is made.
// Tested by tests/unit/plan/random_plans.cpp and tests/unit/plan/loop_memory.cpp.
#pragma once

#include <drx/plan/memory/products.hpp>
#include <drx/plan/memory/rearrangements.hpp>

namespace drx::plan {

/// Where a value lies. A slot is a pointer that changes while running: an input, a member's share, a slice.
enum class space : std::int8_t { nowhere, server, thread, slot };
struct location {
  plan::space space = plan::space::nowhere;
  std::int64_t offset = 0;  // bytes; the number of a slot
};

/// One step of a region: a fused loop (its entries in `plan.members`), possibly after a matrix product and with sums
/// over its rows, or with folds over an axis of its results, or a single entry.
struct step {
  bool is_loop = false;
  int entry = -1;
  int first_member = 0;
  int members = 0;
  int sums = 0;            // sums or folds: entries after the members
  bool has_folds = false;  // they are folds
};

inline constexpr int no_step = -1;

/// The steps of a program and their memory.
struct workspace_plan {
  vec<step> steps;
  vec<int> first_step, step_count;  // by region
  vec<int> members;                 // entries, by fused loop
  vec<int> loop_of;                 // by value: the step that computes it in a fused loop, or no_step
  vec<int> member_of;               // by value computed in a fused loop: its place there
  vec<int> definition;              // by value: the entry that defines it, -1 for inputs
  vec<bool> stored;                 // by value: whether it is written to memory
  vec<int> root;                    // by value: the value whose memory it names
  vec<location> where;              // by value
  vec<location> scratch;            // by entry: memory of a step beside its results; for a scan whose carries change
                                    // places: a copy of its outputs
  int slots = 0;
  std::int64_t server_bytes = 0;
  std::int64_t thread_bytes = 0;

  constexpr explicit workspace_plan(const frozen_sizes& s)
      : steps(s.entries),
        first_step(s.regions),
        step_count(s.regions),
        members(s.entries),
        loop_of(s.values, no_step),
        member_of(s.values),
        definition(s.values, -1),
        stored(s.values),
        root(s.values),
        where(s.values),
        scratch(s.entries) {
    for (int v = 0; v < s.values; ++v) root[v] = v;
  }
};

/// A workspace_plan in arrays of constant size.
template <int Regions, int Entries, int Values>
struct frozen_plan {
  step steps[Entries + 1] = {};
  int first_step[Regions + 1] = {};
  int step_count[Regions + 1] = {};
  int members[Entries + 1] = {};
  int loop_of[Values + 1] = {};
  int member_of[Values + 1] = {};
  int definition[Values + 1] = {};
  bool stored[Values + 1] = {};
  int root[Values + 1] = {};
  location where[Values + 1] = {};
  location scratch[Entries + 1] = {};
  int slots = 0;
  std::int64_t server_bytes = 0;
  std::int64_t thread_bytes = 0;

  static constexpr frozen_plan of(const workspace_plan& p) {
    frozen_plan r;
    const auto copy = [](const auto& from, auto& to) {
      for (int i = 0; i < from.size(); ++i) to[i] = from[i];
    };
    copy(p.steps, r.steps), copy(p.first_step, r.first_step), copy(p.step_count, r.step_count),
        copy(p.members, r.members);
    copy(p.loop_of, r.loop_of), copy(p.member_of, r.member_of), copy(p.definition, r.definition),
        copy(p.stored, r.stored);
    copy(p.root, r.root), copy(p.where, r.where), copy(p.scratch, r.scratch);
    r.slots = p.slots, r.server_bytes = p.server_bytes, r.thread_bytes = p.thread_bytes;
    return r;
  }
};

/// Whether v is value `of` by this or another name. (Another value may lie in the same memory later.) `Plan` is a
/// workspace_plan or a frozen_plan.
template <class Plan>
constexpr bool is_name_of(const Plan& p, int v, int of) {
  while (v != of && p.root[v] != v) v = p.root[v];
  return v == of;
}
/// The value whose memory a use of v reads, through aliases and virtual broadcasts: -1 for constants; of a
/// rearrangement that is not stored, the rearrangement. `Plan` is a workspace_plan or a frozen_plan.
template <class Plan>
constexpr int touched_value(const frozen_view& t, const Plan& p, int v) {
  for (;;) {
    while (p.root[v] != v) v = p.root[v];
    const int e = p.definition[v];
    if (e < 0 || p.stored[v] || t.entries[e].prim->role != role::virtual_) return v;
    if (t.entries[e].prim != &prim::broadcast_to) return -1;
    v = static_cast<int>(t.pool[t.entries[e].operands.first]);
  }
}
/// Whether v is a rearrangement, or rows taken out of an array, that is not stored: its readers go where its operands
/// lie.
template <class Plan>
constexpr bool is_unstored_rearrangement(const frozen_view& t, const Plan& p, int v) {
  const int e = p.definition[v];
  return e >= 0 && !p.stored[v] && (t.entries[e].prim->role == role::rearranged || t.entries[e].prim == &prim::take);
}
/// Calls f(m) for each value m whose memory a use of v reads, through rearrangements too.
template <class Plan, class F>
constexpr void for_each_touched(const frozen_view& t, const Plan& p, int v, const F& f) {
  const int m = touched_value(t, p, v);
  if (m < 0) return;
  if (!is_unstored_rearrangement(t, p, m)) {
    f(m);
  } else {
    const rearrangement from(t, t.entries[p.definition[m]]);
    for (int i = 0; i < from.operands(); ++i) for_each_touched(t, p, from.operand(i), f);
  }
}

/// The values of a region, those of its inputs and results: they have consecutive numbers.
struct values_of_region {
  int first = 0, count = 0;

  constexpr values_of_region() = default;
  constexpr values_of_region(const frozen_view& t, const frozen_region& region) {
    add(t, region.inputs);
    for (int e = 0; e < region.entries; ++e) add(t, t.entries[region.first_entry + e].results);
  }

 private:
  constexpr void add(const frozen_view& t, const span_of_pool& ids) {
    for (int i = 0; i < ids.count; ++i) {
      const int v = static_cast<int>(t.pool[ids.first + i]), end = count == 0 ? v : first + count;
      first = count == 0 || v < first ? v : first;
      count = (v < end ? end : v + 1) - first;
    }
  }
};
/// What is known of the values of one region, by value. (Lists over all values of a program, made for each of its
/// regions, would take most of the time of planning a large one.)
template <class T>
class by_value {
 public:
  constexpr by_value() = default;
  constexpr by_value(const values_of_region& of, const T& fill) : first_(of.first), all_(of.count, fill) {}
  [[nodiscard]] constexpr bool empty() const { return all_.empty(); }
  /// Whether v is one of these values: what the region reads may lie in the memory of others.
  [[nodiscard]] constexpr bool has(int v) const { return v >= first_ && v < first_ + all_.size(); }
  constexpr T& operator[](int v) { return all_[v - first_]; }
  constexpr const T& operator[](int v) const { return all_[v - first_]; }

 private:
  int first_ = 0;
  vec<T> all_;
};
/// The same where most values, or all of them, have T{}: only the others are kept.
template <class T>
class few_by_value {
 public:
  [[nodiscard]] constexpr bool empty() const { return at_.empty(); }
  constexpr const T& operator[](int v) const { return all_[at_.empty() ? 0 : at_[v]]; }
  constexpr void set(int v, const values_of_region& values, const T& x) {
    if (at_.empty()) at_ = by_value<int>(values, 0);
    at_[v] = all_.size();
    all_.push_back(x);
  }

 private:
  vec<T> all_{T{}};
  by_value<int> at_;  // which of these
};

/// A frozen tape and the plan of its steps and memory while it is made: the functions of plan/memory hand it on.
struct plan_in_progress {
  const frozen_view t;
  const int values;
  const std::int64_t least_rearranged_row;  // elements of a row of a rearrangement that fused loops read where it lies
  workspace_plan p;
  vec<values_of_region> values_of;  // by region
  int next_step = 0, next_member = 0;

  constexpr plan_in_progress(const frozen_view& f, std::int64_t least_row)
      : t(f), values(f.sizes.values), least_rearranged_row(least_row), p(f.sizes) {
    for (int e = 0; e < f.sizes.entries; ++e)
      for (int i = 0; i < t.entries[e].results.count; ++i) p.definition[id(t.entries[e].results, i)] = e;
    values_of.reserve(f.sizes.regions);
    for (int r = 0; r < f.sizes.regions; ++r) values_of.push_back(values_of_region(t, t.regions[r]));
  }

  constexpr int id(const span_of_pool& s, int i) const { return static_cast<int>(t.pool[s.first + i]); }
  static constexpr std::int64_t aligned(std::int64_t n) {
    return (n + machine::cache_line - 1) / machine::cache_line * machine::cache_line;
  }
  constexpr std::int64_t bytes(int v) const { return aligned(t.values[v].shape.size() * byte_size(t.values[v].type)); }
  constexpr int root(int v) const {
    while (p.root[v] != v) v = p.root[v];
    return v;
  }
  constexpr int touched(int v) const { return touched_value(t, p, v); }
  template <class F>
  constexpr void for_each_touched(int v, const F& f) const {
    plan::for_each_touched(t, p, v, f);
  }
  constexpr bool touches(int v, int memory) const {
    bool found = false;
    for_each_touched(v, [&](int m) { found = found || m == memory; });
    return found;
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
