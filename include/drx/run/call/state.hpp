// drx/run/call/state.hpp: the state that a compiled program keeps from call to call, and the frame that a call begins
// with.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/run/call/compile_options.hpp>
#include <drx/run/data/placed_storage.hpp>
#include <drx/run/stage/thread_frames.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace drx::run {

/// The value that the functions of a call hand on.
struct call_state {
  compile_options options;
  drx::run::runtime runtime;
  buffer server;  // the workspace of unplaced values
  std::vector<std::byte*> slots;
  // By placement.
  std::vector<std::int64_t> at;
  std::vector<membership> members;
  std::vector<std::vector<std::int64_t>> boundaries;  // for members whose number no argument gives
  // By input.
  std::vector<std::span<const std::byte>> arguments;  // that a result may be written over
  std::vector<buffer> copies;                         // of arguments that are placed results of the last call
  // By output.
  std::vector<std::span<const std::byte>> results;         // if an output is an input
  std::vector<std::span<const std::byte>> placed_results;  // those of the last call, in memory of the program
  std::vector<buffer> own_results;                         // what cannot be written at once where the caller wants it
  std::vector<std::shared_ptr<void>> replaced;  // results from before the call, which may be its arguments as well
};

/// Lays out the workspaces, once, so that calls allocate nothing.
template <class C>
void lay_out(call_state& s, executor& e, communicator& c, compile_options options) {
  s.options = std::move(options);
  s.runtime.executor = &e;
  s.runtime.communicator = &c;
  s.runtime.order = s.options.order;
  constexpr auto stages = static_cast<std::size_t>(C::tape.sizes.entries) + 1;
  constexpr auto values = static_cast<std::size_t>(C::tape.sizes.values) + 1;
  constexpr auto slots = static_cast<std::size_t>(C::plan.slots),
                 placements = static_cast<std::size_t>(C::placements.count);
  s.runtime.gathered.resize(stages);
  s.runtime.bytes.resize(static_cast<std::size_t>(c.size()));
  s.runtime.offsets.resize(static_cast<std::size_t>(c.size()));
  s.runtime.collected.resize(values);
  s.runtime.threads.resize(static_cast<std::size_t>(e.concurrency()));
  for (thread_state& t : s.runtime.threads) {
    constexpr auto frames = static_cast<std::size_t>(frames_of_thread<C>);
    t.workspace.grow(frames * static_cast<std::size_t>(C::plan.thread_bytes));
    t.slots.resize(frames * slots + 1);
    t.at.resize(frames * placements + 1);
    t.nodes.resize(stages);
    t.collected.resize(values);
  }
  s.server.grow(static_cast<std::size_t>(C::plan.server_bytes) + 1);
  s.slots.resize(slots + 1);
  s.at.resize(placements + 1);
  s.members.resize(placements + 1);
}

/// Memory for placed values that are held whole: of every stage over a placement at the top, in loops too.
template <class C>
void provide_collected(const frame& f) {
  for_each_stage<C>([&]<int E>(std::integral_constant<int, E>) {
    if constexpr (C::placements.parent[C::placements.index(C::tape.entries[E].placement)] < 0)
      unroll<C::tape.entries[E].results.count>([&]<int I>(std::integral_constant<int, I>) {
        constexpr int v = C::result(E, I);
        if constexpr (C::values[v].depth > 0) f.slots[C::plan.where[v].offset] = placed_buffer<C, v>(f);
      });
  });
}

/// The frame of a call whose members are known.
template <class C>
frame frame_of_call(call_state& s) {
  frame f;
  f.server = s.server.data();
  f.slots = s.slots.data();
  f.members = s.members.data();
  f.at = s.at.data();
  f.runtime = &s.runtime;
  f.thread = s.runtime.threads[0].workspace.data();
  provide_collected<C>(f);
  return f;
}

}  // namespace drx::run
