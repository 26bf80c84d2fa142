// drx/device/placed.hpp: placed values that one member holds whole (results of its nested stages, operands of its loops)
// lie in memory of the member's team.
// Tested by tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/device/kernel.hpp>
#include <drx/run/data/placed_storage.hpp>

namespace drx::device {

/// The memory of a team beside its workspace. frame::runtime points here.
struct task_memory {
  std::byte* begin = nullptr;
  const std::int64_t* held = nullptr;   // by value: where a placed value that a member holds lies, from `begin` on
  const std::int64_t* nodes = nullptr;  // by stage in the body: where its nodes lie
};

/// Points the slot of placed value V to its memory, addressed as if it began with the first element of all members.
template <class C, int V>
DRX_INLINE void provide_placed(const frame& f) {
  constexpr bool held = C::values[V].depth > 0 && !run::leaves_the_member<C>(V);
  if constexpr (held) {
    const auto& memory = *static_cast<const task_memory*>(f.runtime);
    f.slots[slot_of<C, V>] = memory.begin + memory.held[V] - run::range_of<C, V>(f).begin * bytes_of<C, V>;
  }
}

/// Copies value From, or one row of it, to value To, or to one row of it; member by member if they are placed.
template <class C, int From, int To, run::row_of Row = run::row_of::neither, class Team>
DRX_INLINE void copy_value(const Team& team, const frame& f, std::int64_t row = 0) {
  constexpr std::int64_t from_bytes = bytes_of<C, From>, to_bytes = bytes_of<C, To>,
                         bytes = Row == run::row_of::target ? from_bytes : to_bytes;
  if constexpr (bytes > 0) {
    const std::byte* from = address<C, From>(f) + (Row == run::row_of::source ? row * bytes : 0);
    std::byte* to = address<C, To>(f) + (Row == run::row_of::target ? row * bytes : 0);
    const run::element_range members = run::range_of<C, To>(f);
    for (std::int64_t m = members.begin; m < members.end; ++m)
      copy_bytes(team, from + m * from_bytes, to + m * to_bytes, bytes);
  }
}

}  // namespace drx::device
