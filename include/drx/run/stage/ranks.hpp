// drx/run/stage/ranks.hpp: the ranks' nodes become one, in the way that suits their number and size: every rank gathers
// all, each folds a piece of them, they go up a tree of ranks, or MPI adds them.
// Tested by tests/mpi/reductions.cpp and tests/mpi/large_results.cpp.
#pragma once

#include <drx/run/stage/rank_tree.hpp>
#include <drx/run/stage/split_reduction.hpp>

namespace drx::run {

/// The leaf that begins with a member, or the one after the leaf that contains it. Tree leaves have `unit` members.
inline std::int64_t tree_leaf_at(std::int64_t member, std::int64_t unit) { return (member + unit - 1) / unit; }

/// The members of a stage at the top, on all ranks, and their nodes.
class nodes_of_ranks {
 public:
  nodes_of_ranks(const node_facts& facts, const runtime& rt, const membership& m, std::int64_t unit)
      : facts_(facts), rt_(rt), m_(m), unit_(unit) {}

  /// Whether MPI may choose the order; monoids have their own.
  [[nodiscard]] bool is_fast() const { return !facts_.has_monoid && rt_.order == reduction_order::fast; }
  /// The nodes that ranks a to b - 1 have for the others: the largest subtrees of their members; in the fast order one
  /// node for all.
  [[nodiscard]] node_list of(int a, int b) const {
    const std::int64_t begin = tree_leaf_at(m_.boundaries[a], unit_), end = tree_leaf_at(m_.boundaries[b], unit_);
    return is_fast() ? node_list::of_range(0, begin < end ? 1 : 0) : node_list::of_range(begin, end);
  }
  /// Whether every rank would receive many bytes if nodes were gathered.
  [[nodiscard]] bool are_large() const {
    std::int64_t nodes = 0;
    for (int r = 0; r < rt_.communicator->size(); ++r)
      if (is_fast())
        nodes += m_.boundaries[r] < m_.boundaries[r + 1];
      else
        nodes +=
            node_list::count_of_range(tree_leaf_at(m_.boundaries[r], unit_), tree_leaf_at(m_.boundaries[r + 1], unit_));
    return nodes * facts_.bytes >= many_bytes;
  }
  /// Whether the ranks share the folding; that depends on sizes that all ranks know.
  [[nodiscard]] bool are_split() const {
    const int ranks = rt_.communicator->size();
    return ranks > 1 && facts_.split && facts_.bytes >= split_reduction::piece_bytes * ranks && are_large();
  }

 private:
  /// From this many bytes on, not every rank gathers all nodes: more messages of fewer bytes take less time.
  static constexpr std::int64_t many_bytes = 128 << 10;
  const node_facts& facts_;
  const runtime& rt_;
  const membership& m_;
  std::int64_t unit_;
};

/// What node_facts::split points to, if a stage's nodes can be split.
inline void split_over_ranks(const node_facts& facts, frame& f, const nodes_of_ranks& nodes, const node_list& own,
                             const std::byte* lent, std::int64_t members) {
  split_reduction(facts, f).run(own, lent, members, [&](int r) { return nodes.of(r, r + 1); });
}

/// Every rank's nodes, on every rank, joined.
inline node_list gathered_nodes(const node_facts& facts, frame& f, const nodes_of_ranks& nodes, const node_list& own,
                                std::byte* spare) {
  runtime& rt = *static_cast<runtime*>(f.runtime);
  const auto ranks = static_cast<std::size_t>(rt.communicator->size()),
             rank = static_cast<std::size_t>(rt.communicator->rank());
  rt.bytes.resize(ranks);
  rt.offsets.resize(ranks);
  std::int64_t total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    rt.offsets[r] = total;
    rt.bytes[r] = nodes.of(static_cast<int>(r), static_cast<int>(r) + 1).size() * facts.bytes;
    total += rt.bytes[r];
  }
  rt.gathered[facts.stage].grow(static_cast<std::size_t>(total));
  std::byte* const data = rt.gathered[facts.stage].data();
  for (int i = 0; i < own.size(); ++i)
    std::memcpy(data + rt.offsets[rank] + i * facts.bytes, own.data(i), static_cast<std::size_t>(facts.bytes));
  rt.communicator->all_gather(data, rt.bytes, rt.offsets);
  node_list list(spare, facts.bytes);
  for (std::size_t r = 0; r < ranks; ++r) {
    append_nodes(facts, f, list, nodes.of(static_cast<int>(r), static_cast<int>(r) + 1), data + rt.offsets[r]);
    if (nodes.is_fast()) list.finish(node_joiner(f, facts));
  }
  return list;
}

inline void sum_over_ranks(const node_facts& facts, dtype type, communicator& c, std::byte* data) {
  if (type == dtype::float32) return c.all_sum(reinterpret_cast<float*>(data), facts.bytes / byte_size(type));
  c.all_sum(reinterpret_cast<double*>(data), facts.bytes / byte_size(type));
}

/// Turns the nodes of all ranks, of which `list` has this one's, into the stage's results. `spare` has room for a node;
/// the node `lent` is not written to.
inline void fold_ranks(const node_facts& facts, frame& f, const membership& m, std::int64_t unit, node_list& list,
                       std::byte* spare, const std::byte* lent) {
  runtime& rt = *static_cast<runtime*>(f.runtime);
  const nodes_of_ranks nodes(facts, rt, m, unit);
  if (rt.communicator->size() > 1) {
    if (nodes.is_fast()) list.finish(node_joiner(f, facts));
    if (nodes.are_split()) return facts.split(facts, f, nodes, list, lent, m.total);
    if (const auto type = facts.summed_type(); nodes.is_fast() && type) {
      std::byte* const own = list.size() == 0 ? spare : list.data(0);
      if (list.size() == 0) std::memset(own, 0, static_cast<std::size_t>(facts.bytes));
      sum_over_ranks(facts, *type, *rt.communicator, own);
      return finish_node(facts, f, own, m.total);
    }
    if (nodes.are_large()) {
      const node_joiner joiner(f, facts);
      const auto merged = [&](node_list& l) {
        if (nodes.is_fast()) l.finish(joiner);
      };
      const auto of = [&](int a, int b) { return nodes.of(a, b); };
      const std::byte* const root =
          fold_over_ranks(rt, rt.gathered[facts.stage], list, spare, facts.bytes, of, joiner, merged);
      return finish_node(facts, f, root, m.total);
    }
    list = gathered_nodes(facts, f, nodes, list, spare);
  }
  finish_node(facts, f, root_of(facts, f, list, spare), m.total);
}

}  // namespace drx::run
