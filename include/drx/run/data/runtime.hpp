// drx/run/data/runtime.hpp: the state that a compiled program keeps from call to call, beside its workspaces.
// Tested by tests/mpi/reductions.cpp.
#pragma once

#include <drx/run/data/member_exchange.hpp>
#include <drx/run/data/shards.hpp>
#include <drx/run/data/subnormals.hpp>

#include <memory>
#include <vector>

namespace drx {

/// How reductions add up: `tree` gives the same bits on any number of ranks and threads; `fast` lets MPI choose.
enum class reduction_order { tree, fast };

namespace run {

struct frame;
struct node_facts;
class node_list;

/// What takes the place of the ranks where an engine outside the job holds the members (drx/engines/): it has a stage's
/// nodes computed by many processes, and gives back the root of its tree.
class stage_engine {
 public:
  virtual ~stage_engine() = default;
  /// The root of the next stage's tree; null if this process computes the nodes of its members, which `take` gets.
  virtual const std::byte* root(const node_facts& facts) = 0;
  /// Takes the nodes of this process's members. It does not return: it ends the call by an exception.
  virtual void take(const node_facts& facts, frame& f, node_list& nodes) = 0;
};

struct thread_state {
  buffer workspace;
  std::vector<std::byte*> slots;
  std::vector<std::int64_t> at;
  std::vector<buffer> nodes;      // by stage
  std::vector<buffer> collected;  // by value: placed values that one member needs whole
  buffer product;                 // for a part of a large product
  member_exchange exchange;
  std::vector<member_transfer> transfers;  // of one stage
};

/// One step of folding pieces of nodes: left + right, written to `to`.
struct fold_step {
  std::byte *to, *left, *right;
};

/// The state that a compiled program keeps for its stages.
struct runtime {
  drx::executor* executor = nullptr;
  drx::communicator* communicator = nullptr;
  std::shared_ptr<void> device;    // what the program keeps on a device, if its stages run there (device/memory.hpp)
  stage_engine* engine = nullptr;  // where the ranks are not those of a job
  reduction_order order = reduction_order::tree;
  drx::subnormals subnormals = drx::subnormals::kept;
  bool caller_flushes = false;  // the thread that calls the program, outside of it
  std::vector<thread_state> threads;
  std::vector<buffer> gathered;              // by stage
  std::vector<buffer> collected;             // by value: placed values that are held whole
  std::vector<std::int64_t> bytes, offsets;  // by rank
  std::vector<std::int64_t> shares;          // by task: its first member
  shard_communicators shards;                // for members that are split, along either axis of the mesh
  shard_columns columns;
  std::vector<message> sent, received;  // for a split reduction, and which of its pieces are folded, in order
  std::vector<fold_step> folds;

  /// executor->run(tasks, task, context), with subnormal numbers as the program has them. (An executor's threads begin
  /// with the mode of the one that makes them, which is hence the caller's.)
  void run(int tasks, void (*task)(void*, int), void* context) const {
    if (subnormals == drx::subnormals::kept) return executor->run(tasks, task, context);
    struct job {
      void (*task)(void*, int);
      void* context;
      static void run(void* j, int i) {
        const flush_scope mode(true);
        static_cast<const job*>(j)->task(static_cast<const job*>(j)->context, i);
      }
    } j{task, context};
    const flush_scope mode(caller_flushes);
    executor->run(tasks, job::run, &j);
  }
};

}  // namespace run
}  // namespace drx
