// drx/run/stage/thread_frames.hpp: the frames of a thread: one with slots, numbers and a workspace of its own, and a
// second one after it if blocks take turns.
// Tested by tests/unit/run/executor_threads.cpp.
#pragma once

#include <drx/run/data/runtime.hpp>
#include <drx/run/stage/overlapped_blocks.hpp>

#include <algorithm>

namespace drx::run {

/// A copy of `f` for thread number `thread`.
template <class C>
frame frame_of_thread(const frame& f, int thread) {
  thread_state& mine = static_cast<runtime*>(f.runtime)->threads[static_cast<std::size_t>(thread)];
  frame own = f;
  std::copy(f.slots, f.slots + C::plan.slots, mine.slots.data());
  std::copy(f.at, f.at + C::placements.count, mine.at.data());
  own.slots = mine.slots.data();
  own.at = mine.at.data();
  own.thread = mine.workspace.data();
  own.thread_number = thread;
  return own;
}

/// The number of frames of a thread: two if steps run ahead.
template <class C>
inline constexpr int frames_of_thread = [] {
  for (int e = 0; e < std::remove_cvref_t<decltype(C::tape)>::sizes.entries; ++e)
    if (C::tape.entries[e].prim == &prim::stage && steps_ahead<C>(e) > 0) return 2;
  return 1;
}();

/// The second frame of a thread whose first one is `own`, made from the same `f`.
template <class C>
frame second_frame(const frame& f, const frame& own) {
  frame other = own;
  other.slots = std::copy(f.slots, f.slots + C::plan.slots, own.slots + C::plan.slots) - C::plan.slots;
  other.at = std::copy(f.at, f.at + C::placements.count, own.at + C::placements.count) - C::placements.count;
  other.thread = own.thread + C::plan.thread_bytes;
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
