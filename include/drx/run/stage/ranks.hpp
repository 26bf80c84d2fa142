// drx/run/stage/ranks.hpp: the ranks' nodes become one, in the way that suits their number and size: every rank gathers
// all, each folds a piece of them, they go up a tree of ranks, or MPI adds them.
// Tested by tests/mpi/reductions.cpp and tests/mpi/large_results.cpp.
#pragma once

#include <drx/run/stage/rank_tree.hpp>
#include <drx/run/stage/split_reduction.hpp>

namespace drx::run {

/// `Stage`: the facts of a stage.
template <class Stage>
struct stage_ranks {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;
  using nodes = stage_nodes<Stage>;
  using split = split_reduction<Stage>;

  /// Turns the nodes of all ranks, of which `list` has this one's, into the stage's results. Tree leaves have `unit`
  /// members. `spare` has room for a node; the node `lent` is not written to.
  static void fold(frame& f, const membership& m, std::int64_t unit, node_list& list, std::byte* spare,
                   const std::byte* lent) {
    runtime& rt = *static_cast<runtime*>(f.runtime);
    if (rt.communicator->size() > 1) {
      const bool fast = is_fast(rt);
      if (fast) list.finish(nodes::joins(f));
      if constexpr (split::possible) {
        if (splits(rt, m, unit)) {
          split::run(f, rt, list, lent, m.total, [&](int r) { return nodes_of(rt, m, r, r + 1, unit); });
          return;
        }
      }
      if (fast && summable) {
        std::byte* const own = list.size() == 0 ? spare : list.data(0);
        if (list.size() == 0) std::memset(own, 0, Stage::node_bytes);
        sum_over_ranks(rt, own);
        nodes::finish(f, own, m.total);
        return;
      }
      if (bytes_of_all(rt, m, unit) >= many_bytes) {
        const auto nodes_of_ranks = [&](int a, int b) { return nodes_of(rt, m, a, b, unit); };
        const auto merged = [&](node_list& l) {
          if (fast) l.finish(nodes::joins(f));
        };
        nodes::finish(f,
                      fold_over_ranks(rt, rt.gathered[Stage::ordinal], list, spare, Stage::node_bytes, nodes_of_ranks,
                                      nodes::joins(f), merged),
                      m.total);
        return;
      }
      list = gathered(f, m, unit, list, spare);
    }
    list.finish(nodes::joins(f));
    std::byte* const root = list.size() == 0 ? spare : list.data(0);
    if (list.size() == 0) nodes::neutral(f, root);
    nodes::finish(f, root, m.total);
  }
  /// The only result of a member, if a node is just that: a rank with one member need not copy it.
  static constexpr int lendable = [] {
    int found = -1;
    for (int i = 0; i < Stage::results; ++i)
      if (Stage::folded(i)) found = found < 0 ? i : Stage::results;
    return found >= 0 && found < Stage::results && split::possible && C::bytes(C::result(E, found)) == Stage::node_bytes
               ? found
               : -1;
  }();
  /// Whether the ranks share the folding; that depends on sizes that all ranks know.
  static bool splits(const runtime& rt, const membership& m, std::int64_t unit) {
    return Stage::node_bytes >= split::piece_bytes * rt.communicator->size() && bytes_of_all(rt, m, unit) >= many_bytes;
  }
  /// The leaf that begins with a member, or the one after the leaf that contains it.
  static std::int64_t tree_leaf_at(std::int64_t member, std::int64_t unit) { return (member + unit - 1) / unit; }

 private:
  /// Whether MPI may choose the order; monoids have their own.
  static bool is_fast(const runtime& rt) { return !Stage::has_monoid && rt.order == reduction_order::fast; }
  /// The nodes that ranks a to b - 1 have for the others: the largest subtrees of their members; in the fast order one
  /// node for all.
  static node_list nodes_of(const runtime& rt, const membership& m, int a, int b, std::int64_t unit) {
    const std::int64_t begin = tree_leaf_at(m.boundaries[a], unit), end = tree_leaf_at(m.boundaries[b], unit);
    return is_fast(rt) ? node_list::of_range(0, begin < end ? 1 : 0) : node_list::of_range(begin, end);
  }
  /// The bytes that every rank would receive if nodes were gathered.
  static std::int64_t bytes_of_all(const runtime& rt, const membership& m, std::int64_t unit) {
    std::int64_t nodes = 0;
    for (int r = 0; r < rt.communicator->size(); ++r)
      if (is_fast(rt))
        nodes += m.boundaries[r] < m.boundaries[r + 1];
      else
        nodes +=
            node_list::count_of_range(tree_leaf_at(m.boundaries[r], unit), tree_leaf_at(m.boundaries[r + 1], unit));
    return nodes * Stage::node_bytes;
  }
  /// From this many bytes on, not every rank gathers all nodes: more messages of fewer bytes take less time.
  static constexpr std::int64_t many_bytes = 128 << 10;
  /// Every rank's nodes, on every rank, joined.
  static node_list gathered(frame& f, const membership& m, std::int64_t unit, const node_list& own, std::byte* spare) {
    runtime& rt = *static_cast<runtime*>(f.runtime);
    const int ranks = rt.communicator->size();
    rt.bytes.resize(static_cast<std::size_t>(ranks));
    rt.offsets.resize(static_cast<std::size_t>(ranks));
    std::int64_t total = 0;
    for (int r = 0; r < ranks; ++r) {
      rt.offsets[static_cast<std::size_t>(r)] = total;
      rt.bytes[static_cast<std::size_t>(r)] = nodes_of(rt, m, r, r + 1, unit).size() * Stage::node_bytes;
      total += rt.bytes[static_cast<std::size_t>(r)];
    }
    rt.gathered[Stage::ordinal].grow(static_cast<std::size_t>(total));
    std::byte* data = rt.gathered[Stage::ordinal].data();
    for (int i = 0; i < own.size(); ++i)
      std::memcpy(data + rt.offsets[static_cast<std::size_t>(rt.communicator->rank())] + i * Stage::node_bytes,
                  own.data(i), Stage::node_bytes);
    rt.communicator->all_gather(data, rt.bytes, rt.offsets);
    node_list list(spare, Stage::node_bytes);
    for (int r = 0; r < ranks; ++r) {
      nodes::append(f, list, nodes_of(rt, m, r, r + 1, unit), data + rt.offsets[static_cast<std::size_t>(r)]);
      if (is_fast(rt)) list.finish(nodes::joins(f));
    }
    return list;
  }

  /// Whether all results are sums of one floating type, which MPI can add by itself.
  static constexpr bool summable = [] {
    for (int i = 0; i < Stage::results; ++i) {
      const dtype t = C::values[C::result(E, i)].type;
      if (!Stage::folded(i)) continue;
      if ((Stage::fold_of(i) != fold::sum && Stage::fold_of(i) != fold::mean) || !is_floating(t)) return false;
      for (int k = 0; k < i; ++k)
        if (Stage::folded(k) && C::values[C::result(E, k)].type != t) return false;
    }
    return true;
  }();
  static void sum_over_ranks(runtime& rt, std::byte* data) {
    constexpr int first = [] {
      for (int i = 0; i < Stage::results; ++i)
        if (Stage::folded(i)) return i;
      return 0;
    }();
    using T = element_of<C, C::result(E, first)>;
    if constexpr (std::is_floating_point_v<T>)
      rt.communicator->all_sum(reinterpret_cast<T*>(data), Stage::node_bytes / static_cast<std::int64_t>(sizeof(T)));
  }
};

}  // namespace drx::run
