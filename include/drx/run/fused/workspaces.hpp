// drx/run/fused/workspaces.hpp: a frame's workspaces as a fused loop sees them.
// Tested by tests/unit/run/long_fused_loops.cpp.
#pragma once

#include <drx/run/data/frame.hpp>

#include <bit>

namespace drx::run {

/// The bases of a frame's workspaces, hidden from g++ (`unrelated`) once for all arrays of numbers of one size. What
/// lies behind a base has a constant distance from it, which needs no register, where an address of its own for each
/// array would be written down before the loop and read again in each step. (Not a template of the loop: each value
/// would be compiled once for each loop that reads it.)
struct workspaces {
  // by the logarithm of the numbers' size
  std::byte *server[4], *thread[4];
  std::byte** slots;

  DRX_INLINE explicit workspaces(const frame& f)
      : server{unrelated(f.server), unrelated(f.server), unrelated(f.server), unrelated(f.server)},
        thread{unrelated(f.thread), unrelated(f.thread), unrelated(f.thread), unrelated(f.thread)},
        slots(f.slots) {}
};
template <class C, int V>
DRX_INLINE std::byte* address(const workspaces& w) {
  constexpr plan::location l = C::plan.where[V];
  constexpr int size = std::countr_zero(static_cast<unsigned>(byte_size(C::values[V].type)));
  static_assert(l.space != plan::space::nowhere, "drx: a value is read that was given no place");
  if constexpr (l.space == plan::space::slot) {
    return unrelated(w.slots[l.offset]);
  } else if constexpr (l.space == plan::space::server) {
    return w.server[size] + l.offset;
  } else {
    return w.thread[size] + l.offset;
  }
}

}  // namespace drx::run
