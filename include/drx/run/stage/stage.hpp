// drx/run/stage/stage.hpp: runs a stage: each member once, with its results folded at once into a fixed binary tree.
//
// The tree stands over the members' numbers: node (level, k) covers [k 2^level, (k + 1) 2^level). Threads and ranks
// compute maximal whole subtrees of their ranges and hand those on, so that every sum is the same sum, to the last bit,
// on any number of ranks and threads. A rank sends O(log n) nodes in one collective.
//
// Compiled for each stage: stage_facts, the facts from the tape; stage_members, one member, or a block of them;
// stage_tree_leaves, those as leaves of the tree; stage_nodes, two nodes become one. Compiled once for all stages, from
// tables of facts: top_run, members over threads and ranks; fold_ranks, the ranks' nodes; exchange.hpp, messages
// between members.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/run/stage/nested.hpp>
#include <drx/run/stage/top.hpp>

namespace drx::run {

template <class C, int E>
struct kernel<C, E, &prim::stage> {
  static void run(frame& f) {
    using stage = stage_facts<C, E>;
    if constexpr (stage::parent < 0) {
      top_stage<stage>::run(f);
    } else {
      nested_stage<stage>::run(f);
    }
  }
};

}  // namespace drx::run
