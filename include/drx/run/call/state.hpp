// drx/run/call/state.hpp: the state that a compiled program keeps from call to call, and the frame that a call begins
// with.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/core/sentence.hpp>
#include <drx/run/call/compile_options.hpp>
#include <drx/run/call/facts.hpp>
#include <drx/run/data/placed_members.hpp>

#include <span>
#include <stdexcept>
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
  std::vector<placed_members> replaced;  // results from before the call, which may be its arguments as well
};

/// Requires options that make sense, and the same program with the same ones on all ranks.
[[gnu::cold]] inline void require_options(const compile_options& options, std::int64_t fingerprint, communicator& c) {
  for (const member_count& m : options.members)
    if (m.count < 0)
      throw std::invalid_argument(
          error::sentence({"drx: compile_options::members: ", m.count, " of ", m.placement->name}));
  if (options.subnormals == subnormals::flushed && !can_flush_subnormals)
    throw std::invalid_argument("drx: compile_options::subnormals: drx knows no way to flush them on this processor");
  if (c.size() > 1)
    c.require_same(error::sentence({"drx::compile: the program ", fingerprint, " with ", show(options)}));
}

/// Lays out the workspaces, once, so that calls allocate nothing.
[[gnu::cold]] inline void lay_out(call_state& s, const call_facts& facts, executor& e, communicator& c,
                                  compile_options options) {
  s.options = std::move(options);
  s.runtime.executor = &e;
  s.runtime.communicator = &c;
  s.runtime.order = s.options.order;
  s.runtime.subnormals = s.options.subnormals;
  const auto stages = static_cast<std::size_t>(facts.stages) + 1, values = static_cast<std::size_t>(facts.values) + 1;
  const frame_sizes& sizes = facts.frames;
  s.runtime.gathered.resize(stages);
  s.runtime.bytes.resize(static_cast<std::size_t>(c.size()));
  s.runtime.offsets.resize(static_cast<std::size_t>(c.size()));
  s.runtime.collected.resize(values);
  s.runtime.threads.resize(static_cast<std::size_t>(e.concurrency()));
  for (thread_state& t : s.runtime.threads) {
    const auto frames = static_cast<std::size_t>(sizes.of_thread);
    t.workspace.grow(frames * static_cast<std::size_t>(sizes.thread_bytes));
    t.slots.resize(frames * static_cast<std::size_t>(sizes.slots) + 1);
    t.at.resize(frames * static_cast<std::size_t>(sizes.placements) + 1);
    t.nodes.resize(stages);
    t.collected.resize(values);
  }
  s.server.grow(static_cast<std::size_t>(facts.server_bytes) + 1);
  s.slots.resize(static_cast<std::size_t>(sizes.slots) + 1);
  s.at.resize(static_cast<std::size_t>(sizes.placements) + 1);
  s.members.resize(static_cast<std::size_t>(sizes.placements) + 1);
}

/// The frame of a call whose members are known. Placed values of stages at the top, in loops too, have their memory.
inline frame frame_of_call(const call_facts& facts, call_state& s) {
  frame f;
  f.server = s.server.data();
  f.slots = s.slots.data();
  f.members = s.members.data();
  f.at = s.at.data();
  f.runtime = &s.runtime;
  f.thread = s.runtime.threads[0].workspace.data();
  f.alone = true;
  for (const held_value& v : facts.held) f.slots[v.slot] = memory_of(v, f);
  return f;
}

}  // namespace drx::run
