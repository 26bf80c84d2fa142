// drx/device/launch.hpp: what a device runs: all members of a stage, dealt out to teams; then the folding of the teams'
// nodes.
// Tested by tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/device/all.hpp>
#include <drx/device/memory.hpp>

namespace drx::device {

/// Addresses in the device's memory, which all teams read.
struct launch_addresses {
  std::byte* server = nullptr;  // of unplaced values: where offset 0 of the host's workspace would lie
  std::byte* const* slots = nullptr;
  const run::membership* members = nullptr;  // by placement
  const std::int64_t* held = nullptr;        // task_memory::held
  const std::int64_t* nested_nodes = nullptr;
  std::byte* tasks = nullptr;             // the memory of teams, one after the other
  std::int64_t task_bytes = 0;            // of one team
  std::int64_t workspace = 0, nodes = 0;  // where these lie in it
};

/// The state of a lane. `Slots` and `Placements` are at least 1.
template <int Slots, int Placements>
struct lane_state {
  std::byte* slots[Slots];
  std::int64_t at[Placements];
  task_memory memory;
  frame f;

  DRX_INLINE lane_state(const launch_addresses& a, int task, std::byte* workspace) {
    for (int i = 0; i < Slots; ++i) slots[i] = a.slots[i];
    for (std::int64_t& i : at) i = 0;
    memory.begin = a.tasks + task * a.task_bytes;
    memory.held = a.held;
    memory.nodes = a.nested_nodes;
    f.server = a.server;
    f.thread = workspace ? workspace : memory.begin + a.workspace;
    f.slots = slots;
    f.members = a.members;
    f.at = at;
    f.runtime = &memory;
  }
};
template <class C>
using lane_state_of = lane_state<C::plan.slots + 1, C::placements.count + 1>;

/// The members of a stage at the top. Team number `task` of `tasks` computes an even share of them, one after the
/// other, and leaves the nodes of its range.
template <class Stage>
struct stage_launch {
  using C = typename Stage::code;
  launch_addresses addresses;
  member_range members;

  template <class Team>
  DRX_FN void operator()(const Team& team, int task, int tasks, std::byte* workspace) const {
    lane_state_of<C> lane(addresses, task, workspace);
    member_range mine = members;
    mine.begin = members.end * task / tasks;
    mine.end = members.end * (task + 1) / tasks;
    team_members<Stage>::run(team, lane.f, mine, lane.memory.begin + addresses.nodes);
  }
};

/// Folds pairs of nodes, one after the other. Teams share the elements of a node; a monoid is folded by the first.
template <class Stage>
struct fold_launch {
  using C = typename Stage::code;
  launch_addresses addresses;
  const fold_pair* pairs;
  std::int64_t count;

  /// One lane of all.
  struct lane_of_all {
    std::int64_t first, step;
    [[nodiscard]] DRX_FN std::int64_t lane() const { return first; }
    [[nodiscard]] DRX_FN std::int64_t lanes() const { return step; }
    DRX_FN static void barrier() {}
  };
  template <class Team>
  DRX_FN void operator()(const Team& team, int task, int tasks, std::byte* workspace) const {
    if constexpr (Stage::has_monoid) {
      lane_state_of<C> lane(addresses, task, workspace);
      if (task != 0) return;
      for (std::int64_t i = 0; i < count; ++i) {
        team_members<Stage>::combine(team, lane.f, pairs[i].left, pairs[i].right);
        team.barrier();
      }
    } else {
      // Each element is folded by one lane, which takes the pairs in their order.
      const lane_of_all all{std::int64_t{task} * team.lanes() + team.lane(), std::int64_t{tasks} * team.lanes()};
      frame none;
      for (std::int64_t i = 0; i < count; ++i) team_members<Stage>::combine(all, none, pairs[i].left, pairs[i].right);
    }
  }
};

}  // namespace drx::device
