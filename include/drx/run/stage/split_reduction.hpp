// drx/run/stage/split_reduction.hpp: reduction of large results over ranks. Each rank receives its piece of all ranks'
// subtrees, folds them by the tree and gives the folded piece to the others. The sum is the same, to the last bit, as
// if every rank folded everything, for a fraction of the bytes: twice a result's size, however many ranks there are.
// Tested by tests/mpi/large_results.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/run/data/runtime.hpp>
#include <drx/run/stage/node_facts.hpp>

#include <algorithm>

namespace drx::run {

/// The reduction of one stage's nodes, which have no monoids: those cannot be folded element by element.
class split_reduction {
 public:
  /// A piece smaller than this is not worth a message to each rank.
  static constexpr std::int64_t piece_bytes = 1 << 10;
  static constexpr bool is_possible(const node_facts& facts) {
    return !facts.has_monoid && facts.bytes >= 4 * piece_bytes;
  }

  split_reduction(const node_facts& facts, frame& f) : facts_(facts), f_(f), rt_(*static_cast<runtime*>(f.runtime)) {}

  /// Folds the nodes of all ranks from left to right, with own ones from `list`, and writes the results' places. The
  /// node `lent` is not written to.
  template <class NodesOf>
  void run(const node_list& list, const std::byte* lent, std::int64_t members, NodesOf&& nodes_of) {
    const int ranks = rt_.communicator->size(), rank = rt_.communicator->rank();
    const range own = piece(rank, ranks);
    const std::int64_t own_bytes = own.end - own.begin;

    // All ranks' nodes of the own piece.
    std::int64_t others = 0;
    for (int r = 0; r < ranks; ++r)
      if (r != rank) others += nodes_of(r).size();
    buffer& gathered = rt_.gathered[facts_.stage];
    gathered.grow(static_cast<std::size_t>(others * own_bytes));
    std::byte* at = gathered.data();
    rt_.received.clear();
    rt_.sent.clear();
    rt_.folds.clear();
    node_list all(nullptr, 0);
    const std::byte* const kept = lent ? lent + own.begin : nullptr;
    std::byte* moved = nullptr;  // where the sum with the lent node lies
    const auto now = [&](std::byte* p) { return p == kept && moved ? moved : p; };
    const auto planned = [&](std::byte* left, std::byte* right) {
      left = now(left), right = now(right);
      if (left == kept) moved = right;
      rt_.folds.push_back({left == kept ? right : left, left, right});
    };
    for (int r = 0; r < ranks; ++r) {
      const node_list part = nodes_of(r);
      for (int i = 0; i < part.size(); ++i) {
        if (r == rank) {
          all.push(part.at(i), list.data(i) + own.begin, planned);
        } else {
          rt_.received.push_back({r, at, own_bytes});
          all.push(part.at(i), at, planned);
          at += own_bytes;
        }
      }
      if (rt_.order == reduction_order::fast) all.finish(planned);
    }
    all.finish(planned);
    for (int d = 1; d < ranks; ++d) {  // each rank begins with another one
      const int to = (rank + d) % ranks;
      const range theirs = piece(to, ranks);
      for (int i = 0; i < list.size(); ++i)
        rt_.sent.push_back({to, list.data(i) + theirs.begin, theirs.end - theirs.begin});
    }
    rt_.communicator->exchange(rt_.sent, rt_.received);

    constexpr std::int64_t part = 16 << 10;  // stays in the first cache from the first fold to the last
    for (std::int64_t begin = own.begin; begin < own.end; begin += part)
      fold({begin, std::min(begin + part, own.end)}, own.begin, now(all.data(0)), members);

    rt_.received.clear();
    rt_.sent.clear();
    for (int d = 1; d < ranks; ++d) {
      const int to = (rank + d) % ranks;
      add_results(rt_.sent, to, own);
      add_results(rt_.received, to, piece(to, ranks));
    }
    rt_.communicator->exchange(rt_.sent, rt_.received);
  }

 private:
  struct range {
    std::int64_t begin, end;
  };
  /// The bytes of a node that rank r folds.
  [[nodiscard]] range piece(int r, int ranks) const {
    const std::int64_t lines = facts_.bytes / machine::cache_line;
    const auto cut = [&](int k) { return k == ranks ? facts_.bytes : lines * k / ranks * machine::cache_line; };
    return {cut(r), cut(r + 1)};
  }
  /// The part of a result in these bytes of a node.
  static range inside(const node_result& x, range r) {
    return {std::max(r.begin, x.offset), std::min(r.end, x.offset + x.bytes)};
  }
  /// Messages with the results in these bytes of a node.
  void add_results(std::vector<message>& messages, int rank, range r) const {
    for (const node_result& x : facts_.results)
      if (const range in = inside(x, r); in.begin < in.end)
        messages.push_back({rank, address_at(f_, x.where) + (in.begin - x.offset), in.end - in.begin});
  }
  /// Folds these bytes as planned; the last fold writes the results. `base`: where in a node the pieces begin.
  void fold(range r, std::int64_t base, const std::byte* only, std::int64_t members) const {
    for (const node_result& x : facts_.results) {
      const range in = inside(x, r);
      if (in.begin >= in.end) continue;
      const std::int64_t from = in.begin - base, n = (in.end - in.begin) / byte_size(x.type);
      std::byte* const to = address_at(f_, x.where) + (in.begin - x.offset);
      for (std::size_t k = 0; k < rt_.folds.size(); ++k) {
        const fold_step& step = rt_.folds[k];
        fold_elements(x.how, x.type, k + 1 < rt_.folds.size() ? step.to + from : to, step.left + from,
                      step.right + from, n);
      }
      if (rt_.folds.empty()) std::memcpy(to, only + from, static_cast<std::size_t>(in.end - in.begin));
      divide_mean(x, to, n, members);
    }
  }

  const node_facts& facts_;
  frame& f_;
  runtime& rt_;
};

}  // namespace drx::run
