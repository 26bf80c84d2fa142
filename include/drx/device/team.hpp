// drx/device/team.hpp: a team: the lanes that compute one member together. On a GPU it is a thread block; on a host it
// is a few threads.
//
// A team is any type with
//   int lane() const, int lanes() const   the number of this lane, and how many there are,
//   void barrier() const                  which all lanes reach before one of them goes on; what they wrote is seen.
// Every lane runs the same code, with a frame of its own (slots and members' numbers), on one workspace of the team.
// Tested by tests/unit/device/arrays.cpp and tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/config.hpp>

#include <cstddef>
#include <cstdint>

namespace drx::device {

/// Calls f(i) for i in [0, n), each from one lane; neighbours go to neighbouring lanes.
template <class Team, class F>
DRX_INLINE void for_each(const Team& team, std::int64_t n, const F& f) {
  for (std::int64_t i = team.lane(); i < n; i += team.lanes()) f(i);
}
/// Copies n elements. (The memory may be the same, but must not overlap otherwise.)
template <class T, class Team>
DRX_INLINE void copy(const Team& team, const T* from, T* to, std::int64_t n) {
  if (from != to) for_each(team, n, [&](std::int64_t i) { to[i] = from[i]; });
}
/// Copies bytes, in words of four where both places and their number allow it.
template <class Team>
DRX_INLINE void copy_bytes(const Team& team, const std::byte* from, std::byte* to, std::int64_t bytes) {
  const auto places = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
  if ((places | static_cast<std::uintptr_t>(bytes)) % 4 == 0)
    copy(team, reinterpret_cast<const std::uint32_t*>(from), reinterpret_cast<std::uint32_t*>(to), bytes / 4);
  else
    copy(team, from, to, bytes);
}
/// Sets n elements.
template <class T, class Team>
DRX_INLINE void fill(const Team& team, T* to, std::int64_t n, T value) {
  for_each(team, n, [&](std::int64_t i) { to[i] = value; });
}

}  // namespace drx::device
