// drx/run/stage/thread_frames.hpp: the frames of a thread: one with slots, numbers and a workspace of its own, and a
// second one after it if blocks take turns.
// Tested by tests/unit/run/executor_threads.cpp.
#pragma once

#include <drx/run/data/runtime.hpp>
#include <drx/run/stage/overlapped_blocks.hpp>

#include <algorithm>

namespace drx::run {

/// The frame_sizes of a program. A thread has two frames if steps run ahead.
template <class C>
inline constexpr frame_sizes frame_sizes_of = [] {
  frame_sizes s{C::plan.slots, C::placements.count, 1, C::plan.thread_bytes};
  for (int e = 0; e < C::sizes.entries; ++e)
    if (C::tape.entries[e].prim == &prim::stage && steps_ahead<C>(e) > 0) s.of_thread = 2;
  return s;
}();

/// A copy of `f` for thread number `thread`.
inline frame frame_of_thread(const frame& f, int thread, const frame_sizes& sizes) {
  thread_state& mine = static_cast<runtime*>(f.runtime)->threads[static_cast<std::size_t>(thread)];
  frame own = f;
  std::copy(f.slots, f.slots + sizes.slots, mine.slots.data());
  std::copy(f.at, f.at + sizes.placements, mine.at.data());
  own.slots = mine.slots.data();
  own.at = mine.at.data();
  own.thread = mine.workspace.data();
  own.thread_number = thread;
  return own;
}

/// The second frame of a thread whose first one is `own`, made from the same `f`.
inline frame second_frame(const frame& f, const frame& own, const frame_sizes& sizes) {
  frame other = own;
  other.slots = std::copy(f.slots, f.slots + sizes.slots, own.slots + sizes.slots) - sizes.slots;
  other.at = std::copy(f.at, f.at + sizes.placements, own.at + sizes.placements) - sizes.placements;
  other.thread = own.thread + sizes.thread_bytes;
  return other;
}

/// The frames of the current block and of the next one.
struct two_frames {
  struct place {
    frame* f = nullptr;
    std::int64_t number = 0;  // of the block's first member; a slot points here
  };
  place places[2];
  int at = 0;
  bool begun = false;  // whether the first steps of the current block are done

  place& now() { return places[at]; }
  place& next() { return places[1 - at]; }
  void advance(bool next_begun) {
    at = 1 - at;
    begun = next_begun;
  }
};

}  // namespace drx::run
