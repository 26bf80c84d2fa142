// drx/run/stage/rank_tree.hpp: reduction over many ranks of nodes too small to be split and too many for every rank to
// gather: lists of subtrees go up a binary tree of ranks, where each is joined with the one to its right, and the sum
// comes down it.
// Tested by tests/mpi/large_results.cpp.
#pragma once

#include <drx/run/data/node_list.hpp>
#include <drx/run/data/runtime.hpp>

#include <algorithm>

namespace drx::run {

/// Folds the ranks' lists and returns the root, on every rank. `spare` is memory for a node. nodes_of(a, b) are the
/// nodes that ranks a to b - 1 have together; joined(left, right) adds two nodes; merged(list) is called whenever a
/// list has grown.
template <class NodesOf, class Joined, class Merged>
std::byte* fold_over_ranks(runtime& rt, buffer& memory, node_list& list, std::byte* spare, std::int64_t node_bytes,
                           NodesOf&& nodes_of, Joined&& joined, Merged&& merged) {
  const int ranks = rt.communicator->size(), rank = rt.communicator->rank();
  const auto lower = [&](int step) { return rank % (2 * step) == step; };                      // has a rank above it
  const auto upper = [&](int step) { return rank % (2 * step) == 0 && rank + step < ranks; };  // has one below it
  std::int64_t nodes = 0;
  for (int step = 1; step < ranks && rank % step == 0; step *= 2)
    if (upper(step)) nodes += nodes_of(rank + step, std::min(rank + 2 * step, ranks)).size();
  memory.grow(static_cast<std::size_t>(nodes * node_bytes));
  std::byte* at = memory.data();

  int last = 1;
  for (int step = 1; step < ranks; last = step, step *= 2) {
    rt.sent.clear();
    rt.received.clear();
    const std::byte* const begin = at;
    if (rank % step == 0 && lower(step))
      for (int i = 0; i < list.size(); ++i) rt.sent.push_back({rank - step, list.data(i), node_bytes});
    const node_list part = rank % step == 0 && upper(step) ? nodes_of(rank + step, std::min(rank + 2 * step, ranks))
                                                           : node_list(nullptr, 0);
    for (int i = 0; i < part.size(); ++i, at += node_bytes) rt.received.push_back({rank + step, at, node_bytes});
    rt.communicator->exchange(rt.sent, rt.received);
    for (int i = 0; i < part.size(); ++i) list.push(part.at(i), const_cast<std::byte*>(begin) + i * node_bytes, joined);
    merged(list);
  }

  std::byte* root = spare;
  if (rank == 0) {
    list.finish(joined);
    root = list.data(0);
  }
  for (int step = last; step >= 1; step /= 2) {
    rt.sent.clear();
    rt.received.clear();
    if (rank % step == 0 && lower(step)) rt.received.push_back({rank - step, root, node_bytes});
    if (rank % step == 0 && upper(step)) rt.sent.push_back({rank + step, root, node_bytes});
    rt.communicator->exchange(rt.sent, rt.received);
  }
  return root;
}

}  // namespace drx::run
