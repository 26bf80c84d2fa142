// drx/run/data/node_list.hpp: lists of subtrees of a reduction tree: node (level, k) covers members [k 2^level, (k + 1)
// 2^level).
#pragma once

#include <drx/config.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace drx::run {

struct node {
  int level = 0;
  std::int64_t position = 0;
};

/// A list of subtrees from left to right, in memory of its own or of the caller. Neighbours that make up a larger
/// subtree are joined, in the memory of the left one.
class node_list {
 public:
  static std::size_t capacity(std::int64_t members) {
    return 2 * static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(members))) + 2;
  }
  node_list(std::byte* memory, std::int64_t node_bytes) : memory_(memory), bytes_(node_bytes) {}
  [[nodiscard]] int size() const { return count_; }
  [[nodiscard]] std::byte* data(int i) const { return data_[static_cast<std::size_t>(i)]; }
  /// Where the next node is to be written, before push.
  [[nodiscard]] std::byte* next() const { return memory_ + count_ * bytes_; }
  template <class Combine>
  void push(node n, Combine&& combine) {
    push(n, next(), combine);
  }
  /// Adds a node that lies in `data`.
  template <class Combine>
  void push(node n, std::byte* data, Combine&& combine) {
    data_[static_cast<std::size_t>(count_)] = data;
    nodes_[static_cast<std::size_t>(count_++)] = n;
    while (count_ > 1 &&
           joins(nodes_[static_cast<std::size_t>(count_ - 2)], nodes_[static_cast<std::size_t>(count_ - 1)])) {
      combine(data_[static_cast<std::size_t>(count_ - 2)], data_[static_cast<std::size_t>(count_ - 1)]);
      --count_;
      raise();
    }
  }
  /// Whether n would be joined with the last node at once; push_joined adds a node that is part of that one already.
  [[nodiscard]] bool awaits(node n) const {
    return count_ > 0 && joins(nodes_[static_cast<std::size_t>(count_ - 1)], n);
  }
  template <class Combine>
  void push_joined(Combine&& combine) {
    raise();
    const node n = nodes_[static_cast<std::size_t>(--count_)];
    push(n, data_[static_cast<std::size_t>(count_)], combine);
  }
  [[nodiscard]] node at(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  /// The nodes that cover [begin, end), without computing anything.
  static node_list of_range(std::int64_t begin, std::int64_t end) {
    node_list l(nullptr, 0);
    for (std::int64_t i = begin; i < end;) {
      int level = 0;
      while (i % (std::int64_t{2} << level) == 0 && i + (std::int64_t{2} << level) <= end) ++level;
      l.nodes_[static_cast<std::size_t>(l.count_++)] = {level, i >> level};
      i += std::int64_t{1} << level;
    }
    return l;
  }
  /// The number of these nodes.
  DRX_FN static std::int64_t count_of_range(std::int64_t begin, std::int64_t end) {
    std::int64_t n = 0;
    for (std::int64_t i = begin; i < end; ++n) {
      const std::int64_t aligned = i == 0 ? end : i & -i;
      i += static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(aligned, end - i))));
    }
    return n;
  }
  /// Folds all nodes into the first: the right end of a tree that is not full.
  template <class Combine>
  void finish(Combine&& combine) {
    for (; count_ > 1; --count_) combine(data(count_ - 2), data(count_ - 1));
  }

 private:
  static bool joins(node left, node right) {
    return left.level == right.level && left.position % 2 == 0 && right.position == left.position + 1;
  }
  void raise() {  // the last node becomes the one above it
    node& last = nodes_[static_cast<std::size_t>(count_ - 1)];
    last = {last.level + 1, last.position / 2};
  }
  std::byte* memory_;
  std::int64_t bytes_;
  static constexpr std::size_t most = 160;  // more than capacity() of any number of members
  std::array<node, most> nodes_;
  std::array<std::byte*, most> data_;
  int count_ = 0;
};

}  // namespace drx::run
