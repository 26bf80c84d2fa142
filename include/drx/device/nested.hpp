// drx/device/nested.hpp: a stage inside a member, by the member's team.
// Tested by tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/device/members.hpp>
#include <drx/device/placed.hpp>

namespace drx::device {

template <class C, int E>
struct team_kernel<C, E, &prim::stage> {
  using stage = run::stage_facts<C, E>;
  using members = team_members<stage>;
  static_assert(stage::parent >= 0);

  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    const std::int64_t* const at = f.members[stage::p].offsets + f.at[stage::parent];
    const std::int64_t begin = at[0], count = at[1] - at[0];
    unroll<stage::results>(
        [&]<int I>(std::integral_constant<int, I>) { device::provide_placed<C, C::result(E, I)>(f); });
    const auto& memory = *static_cast<const task_memory*>(f.runtime);
    std::byte* const nodes = memory.begin + memory.nodes[stage::ordinal];
    constexpr std::int64_t unit = members::has_blocks ? stage::members_of_leaf : 1;
    const std::int64_t leaves = (count + unit - 1) / unit;
    members::run(team, f, {0, leaves, unit, count, begin, 0, nullptr}, nodes);
    if constexpr (stage::node_bytes > 0) {
      if (count == 0) {
        members::neutral(team, f, nodes);
      } else {
        members::join(team, f, nodes, run::node_list::count_of_range(0, leaves), 1);
      }
      members::finish(team, f, nodes, count);
    }
  }
};

}  // namespace drx::device
