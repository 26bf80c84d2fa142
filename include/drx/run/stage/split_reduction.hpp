// drx/run/stage/split_reduction.hpp: reduction of large results over ranks. Each rank receives its piece of all ranks'
// subtrees, folds them by the tree and gives the folded piece to the others. The sum is the same, to the last bit, as
// if every rank folded everything, for a fraction of the bytes: twice a result's size, however many ranks there are.
// Tested by tests/mpi/large_results.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/run/stage/nodes.hpp>

#include <algorithm>

namespace drx::run {

/// `Stage`: the facts of a stage without monoids, whose elements cannot be folded one by one.
template <class Stage>
struct split_reduction {
  using C = typename Stage::code;
  static constexpr std::int64_t bytes = Stage::node_bytes;
  /// A piece smaller than this is not worth a message to each rank.
  static constexpr std::int64_t piece_bytes = 1 << 10;
  /// A node that is split has some pieces at least. (Code for smaller ones would never run.)
  static constexpr bool possible = !Stage::has_monoid && bytes >= 4 * piece_bytes;

  struct range {
    std::int64_t begin, end;
  };
  /// The bytes of a node that rank r folds.
  static range piece(int r, int ranks) {
    constexpr std::int64_t lines = bytes / machine::cache_line;
    const auto cut = [&](int k) { return k == ranks ? bytes : lines * k / ranks * machine::cache_line; };
    return {cut(r), cut(r + 1)};
  }

  /// Folds the nodes of all ranks from left to right, with own ones from `list`, and writes the results' places. The
  /// node `lent` is not written to.
  template <class NodesOf>
  static void run(frame& f, runtime& rt, const node_list& list, const std::byte* lent, std::int64_t members,
                  NodesOf&& nodes_of) {
    const int ranks = rt.communicator->size(), rank = rt.communicator->rank();
    const range own = piece(rank, ranks);
    const std::int64_t own_bytes = own.end - own.begin;

    // All ranks' nodes of the own piece.
    std::int64_t others = 0;
    for (int r = 0; r < ranks; ++r)
      if (r != rank) others += nodes_of(r).size();
    rt.gathered[Stage::ordinal].grow(static_cast<std::size_t>(others * own_bytes));
    std::byte* at = rt.gathered[Stage::ordinal].data();
    rt.received.clear();
    rt.sent.clear();
    rt.folds.clear();
    node_list all(nullptr, 0);
    const std::byte* const kept = lent ? lent + own.begin : nullptr;
    std::byte* moved = nullptr;  // where the sum with the lent node lies
    const auto now = [&](std::byte* p) { return p == kept && moved ? moved : p; };
    const auto planned = [&](std::byte* left, std::byte* right) {
      left = now(left), right = now(right);
      if (left == kept) moved = right;
      rt.folds.push_back({left == kept ? right : left, left, right});
    };
    for (int r = 0; r < ranks; ++r) {
      const node_list part = nodes_of(r);
      for (int i = 0; i < part.size(); ++i) {
        if (r == rank) {
          all.push(part.at(i), list.data(i) + own.begin, planned);
        } else {
          rt.received.push_back({r, at, own_bytes});
          all.push(part.at(i), at, planned);
          at += own_bytes;
        }
      }
      if (rt.order == reduction_order::fast) all.finish(planned);
    }
    all.finish(planned);
    for (int d = 1; d < ranks; ++d) {  // each rank begins with another one
      const int to = (rank + d) % ranks;
      const range theirs = piece(to, ranks);
      for (int i = 0; i < list.size(); ++i)
        rt.sent.push_back({to, list.data(i) + theirs.begin, theirs.end - theirs.begin});
    }
    rt.communicator->exchange(rt.sent, rt.received);

    constexpr std::int64_t part = 16 << 10;  // stays in the first cache from the first fold to the last
    for (std::int64_t begin = own.begin; begin < own.end; begin += part)
      fold(f, rt, {begin, std::min(begin + part, own.end)}, own.begin, now(all.data(0)), members);

    rt.received.clear();
    rt.sent.clear();
    for (int d = 1; d < ranks; ++d) {
      const int to = (rank + d) % ranks;
      of_results(f, own, [&](std::byte* data, std::int64_t n) { rt.sent.push_back({to, data, n}); });
      of_results(f, piece(to, ranks), [&](std::byte* data, std::int64_t n) { rt.received.push_back({to, data, n}); });
    }
    rt.communicator->exchange(rt.sent, rt.received);
  }

 private:
  /// The part of result I in these bytes of a node.
  template <int I>
  static range inside(range r) {
    return {std::max(r.begin, Stage::offset(I)),
            std::min(r.end, Stage::offset(I) + C::bytes(C::result(Stage::entry, I)))};
  }
  template <class F>
  static void of_results(const frame& f, range r, F&& give) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        const range in = inside<I>(r);
        if (in.begin < in.end)
          give(address<C, C::result(Stage::entry, I)>(f) + (in.begin - Stage::offset(I)), in.end - in.begin);
      }
    });
  }
  /// Folds these bytes as planned; the last fold writes the results. `base`: where in a node the pieces begin.
  static void fold(const frame& f, const runtime& rt, range r, std::int64_t base, const std::byte* only,
                   std::int64_t members) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        constexpr int v = C::result(Stage::entry, I);
        using T = element_of<C, v>;
        const range in = inside<I>(r);
        if (in.begin >= in.end) return;
        const std::int64_t from = in.begin - base, n = (in.end - in.begin) / static_cast<std::int64_t>(sizeof(T));
        std::byte* const to = address<C, v>(f) + (in.begin - Stage::offset(I));
        for (std::size_t k = 0; k < rt.folds.size(); ++k) {
          const fold_step& step = rt.folds[k];
          stage_nodes<Stage>::template fold_elements<I>(k + 1 < rt.folds.size() ? step.to + from : to, step.left + from,
                                                        step.right + from, n);
        }
        if (rt.folds.empty()) std::memcpy(to, only + from, static_cast<std::size_t>(in.end - in.begin));
        stage_nodes<Stage>::template divide<I>(to, n, members);
      }
    });
  }
};

}  // namespace drx::run
