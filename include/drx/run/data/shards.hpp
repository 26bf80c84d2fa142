// drx/run/data/shards.hpp: members that are split into shards, which lie on several ranks: which ranks share a member,
// and the communication between them.
// Tested by tests/mpi/shards.cpp.
#pragma once

#include <drx/run/data/buffer.hpp>
#include <drx/run/data/executor.hpp>
#include <drx/run/data/node_list.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace drx {

/// The boundaries of the ranks' ranges of shards, `count` for each member: whole members if there are as many as ranks,
/// else parts of a member. Many shards come in the same units as many members.
inline std::vector<std::int64_t> boundaries_of_shards(std::int64_t members, std::int64_t count, int ranks) {
  if (members < ranks || members_in_block(members) < members_in_block(members * count))
    return even_blocks(members * count, ranks);
  std::vector<std::int64_t> b = even_blocks(members, ranks);
  for (auto& x : b) x *= count;
  return b;
}

namespace run {

/// Disjoint sets of ranks: join merges the sets of two ranks, and [rank] is the number of a rank's set.
class rank_sets {
 public:
  explicit rank_sets(int ranks) : of_(static_cast<std::size_t>(ranks)) {
    for (std::size_t r = 0; r < of_.size(); ++r) of_[r] = static_cast<int>(r);
  }
  void join(std::size_t a, std::size_t b) {
    const int from = std::max(of_[a], of_[b]), to = std::min(of_[a], of_[b]);
    std::replace(of_.begin(), of_.end(), from, to);
  }
  [[nodiscard]] int operator[](std::size_t rank) const { return of_[rank]; }

 private:
  std::vector<int> of_;
};

/// The ranks that this one meets along one axis of the mesh, with a communicator of their own.
class mesh_axis {
 protected:
  /// `boundaries`: rank r has the shards [boundaries[r], boundaries[r+1]). join(sets) says which ranks meet. All ranks
  /// call this alike; returns whether anything has changed.
  template <class Join>
  bool meet(communicator& all, const std::int64_t* boundaries, std::int64_t count, Join&& join) {
    const auto ranks = static_cast<std::size_t>(all.size());
    if (count_ == count && boundaries_.size() == ranks + 1 &&
        std::equal(boundaries_.begin(), boundaries_.end(), boundaries))
      return false;
    count_ = count;
    boundaries_.assign(boundaries, boundaries + ranks + 1);
    rank_sets sets(all.size());
    join(sets);
    const int own = sets[static_cast<std::size_t>(all.rank())];
    among_ = all.split(own);
    ranks_.clear();
    for (std::size_t r = 0; r < ranks; ++r)
      if (sets[r] == own) ranks_.push_back(r);
    bytes_.resize(ranks_.size());
    offsets_.resize(ranks_.size());
    return true;
  }
  [[nodiscard]] bool is_empty(std::size_t rank) const { return boundaries_[rank] == boundaries_[rank + 1]; }

  std::int64_t count_ = 0;  // shards of a member
  std::vector<std::int64_t> boundaries_;
  std::unique_ptr<communicator> among_;
  std::vector<std::size_t> ranks_;             // the numbers of those of `among_` among all ranks
  std::vector<std::int64_t> bytes_, offsets_;  // by rank of `among_`
};

/// Along the axis of the shards: the ranks that share members with this one, directly or through others, and the shards
/// of shared members that each has.
class shard_communicators : mesh_axis {
 public:
  void prepare(communicator& all, const std::int64_t* boundaries, std::int64_t count) {
    const auto ranks = static_cast<std::size_t>(all.size());
    const bool moved = meet(all, boundaries, count, [&](rank_sets& sets) {
      std::size_t before = ranks;  // the last earlier rank with any shard
      for (std::size_t r = 0; r < ranks; ++r) {
        if (is_empty(r)) continue;
        if (before < ranks && boundaries_[r] % count != 0) sets.join(before, r);
        before = r;
      }
    });
    if (!moved) return;
    parts_.clear();
    for (std::size_t r : ranks_) parts_.push_back(shared_part(boundaries_[r], boundaries_[r + 1]));
  }
  /// `result` has, for each shard here from number `first` on, the values of all its member's shards, of which the
  /// shard has written its own; fills in the others.
  void exchange(std::byte* result, std::int64_t first, std::int64_t end, std::int64_t bytes) {
    const auto row = [&](std::int64_t shard, std::int64_t of) {
      return result + ((shard - first) * count_ + of % count_) * bytes;
    };
    for (std::int64_t shard = first; shard < end; ++shard) {
      const std::int64_t member = shard / count_ * count_;
      for (std::int64_t of = std::max(member, first); of < std::min(member + count_, end); ++of)
        if (of != shard) std::memcpy(row(shard, of), row(of, of), static_cast<std::size_t>(bytes));
    }
    if (!among_ || among_->size() == 1) return;
    std::int64_t total = 0;
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      offsets_[r] = total;
      bytes_[r] = parts_[r].shards() * bytes;
      total += bytes_[r];
    }
    memory_.grow(static_cast<std::size_t>(total) + 1);
    const auto own = static_cast<std::size_t>(among_->rank());
    std::byte* at = memory_.data() + offsets_[own];
    parts_[own].each([&](std::int64_t shard) {
      std::memcpy(at, row(shard, shard), static_cast<std::size_t>(bytes));
      at += bytes;
    });
    among_->all_gather(memory_.data(), bytes_, offsets_);
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      const std::byte* from = memory_.data() + offsets_[r];
      parts_[r].each([&](std::int64_t of) {
        const std::int64_t member = of / count_ * count_;
        if (r != own)
          for (std::int64_t shard = std::max(member, first); shard < std::min(member + count_, end); ++shard)
            std::memcpy(row(shard, of), from, static_cast<std::size_t>(bytes));
        from += bytes;
      });
    }
  }

 private:
  /// The shards of a rank whose members lie on other ranks too: those of its first member, and of its last.
  struct part {
    std::int64_t begin = 0, head_end = 0, tail_begin = 0, end = 0;
    [[nodiscard]] std::int64_t shards() const { return head_end - begin + end - tail_begin; }
    template <class F>
    void each(F&& f) const {
      for (std::int64_t s = begin; s < head_end; ++s) f(s);
      for (std::int64_t s = tail_begin; s < end; ++s) f(s);
    }
  };
  [[nodiscard]] part shared_part(std::int64_t begin, std::int64_t end) const {
    part p{begin, begin, end, end};
    if (begin % count_ != 0) p.head_end = std::min(end, (begin / count_ + 1) * count_);
    if (end % count_ != 0) p.tail_begin = std::max(p.head_end, end / count_ * count_);
    return p;
  }

  std::vector<part> parts_;  // by rank of `among_`
  buffer memory_;
};

/// Along the axis of the members: the ranks that have the same shard of other members, directly or through others.
class shard_columns : mesh_axis {
 public:
  void prepare(communicator& all, const std::int64_t* boundaries, std::int64_t count) {
    const auto ranks = static_cast<std::size_t>(all.size());
    (void)meet(all, boundaries, count, [&](rank_sets& sets) {
      for (std::int64_t shard = 0; shard < count; ++shard) {
        std::size_t before = ranks;
        for (std::size_t r = 0; r < ranks; ++r) {
          if (members_of(r, shard).empty()) continue;
          if (before < ranks) sets.join(before, r);
          before = r;
        }
      }
    });
  }
  /// `values` has the value of each shard here, from number `first` on. Replaces it by the sum over all members of that
  /// shard, folded in the tree over the members' numbers. add(a, b) adds b to a.
  template <class Add>
  void sum(std::byte* values, std::int64_t first, std::int64_t bytes, Add&& add) {
    if (bytes == 0) return;
    const auto own = static_cast<std::size_t>(among_->rank());
    std::int64_t nodes = 0;
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      offsets_[k] = nodes * bytes;
      for (std::int64_t shard = 0; shard < count_; ++shard) nodes += of_range(k, shard).size();
      bytes_[k] = nodes * bytes - offsets_[k];
    }
    gathered_.grow(static_cast<std::size_t>(nodes * bytes) + 1);
    std::byte* to = gathered_.data() + offsets_[own];
    for (std::int64_t shard = 0; shard < count_; ++shard) {
      const range mine = members_of(ranks_[own], shard);
      list_.grow(node_list::capacity(mine.end - mine.begin) * static_cast<std::size_t>(bytes));
      node_list list(list_.data(), bytes);
      for (std::int64_t member = mine.begin; member < mine.end; ++member) {
        std::memcpy(list.next(), values + (member * count_ + shard - first) * bytes, static_cast<std::size_t>(bytes));
        list.push({0, member}, add);
      }
      for (int i = 0; i < list.size(); ++i, to += bytes) std::memcpy(to, list.data(i), static_cast<std::size_t>(bytes));
    }
    among_->all_gather(gathered_.data(), bytes_, offsets_);
    for (std::int64_t shard = 0; shard < count_; ++shard) {
      const range mine = members_of(ranks_[own], shard);
      if (mine.empty()) continue;
      node_list all(nullptr, 0);
      for (std::size_t k = 0; k < ranks_.size(); ++k) {
        std::byte* from = gathered_.data() + offsets_[k];
        for (std::int64_t before = 0; before < shard; ++before) from += of_range(k, before).size() * bytes;
        const node_list part = of_range(k, shard);
        for (int i = 0; i < part.size(); ++i, from += bytes) all.push(part.at(i), from, add);
      }
      all.finish(add);
      for (std::int64_t member = mine.begin; member < mine.end; ++member)
        std::memcpy(values + (member * count_ + shard - first) * bytes, all.data(0), static_cast<std::size_t>(bytes));
    }
  }

 private:
  struct range {
    std::int64_t begin, end;
    [[nodiscard]] bool empty() const { return begin >= end; }
  };
  /// The members of which a rank has this shard.
  [[nodiscard]] range members_of(std::size_t rank, std::int64_t shard) const {
    const auto from = [&](std::int64_t number) { return (number - shard + count_ - 1) / count_; };
    return {from(boundaries_[rank]), std::max(from(boundaries_[rank]), from(boundaries_[rank + 1]))};
  }
  [[nodiscard]] node_list of_range(std::size_t k, std::int64_t shard) const {
    const range r = members_of(ranks_[k], shard);
    return node_list::of_range(r.begin, r.end);
  }

  buffer list_, gathered_;
};

}  // namespace run
}  // namespace drx
