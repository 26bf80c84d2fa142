// drx/run/shards.hpp: members that are split in shards, which lie on several ranks: who shares a member with whom, and the
// exchange among them.
#pragma once

#include <drx/run/buffer.hpp>
#include <drx/run/executor.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace drx {

/// Blocks of shards, `count` for each member: whole members where there are as many as ranks, else shares of a member.
inline std::vector<std::int64_t> blocks_of_shards(std::int64_t members, std::int64_t count, int ranks) {
  if (members < ranks) return even_blocks(members * count, ranks);
  std::vector<std::int64_t> b = even_blocks(members, ranks);
  for (auto& x : b) x *= count;
  return b;
}

namespace run {

/// The ranks that share members with this one, directly or through others, and what each has of those that are shared.
class shard_groups {
 public:
  /// `boundaries`: rank r has the shards [boundaries[r], boundaries[r+1]). All ranks call this alike.
  void prepare(communicator& all, const std::int64_t* boundaries, std::int64_t count) {
    const auto ranks = static_cast<std::size_t>(all.size());
    if (count_ == count && boundaries_.size() == ranks + 1 && std::equal(boundaries_.begin(), boundaries_.end(), boundaries)) return;
    count_ = count;
    boundaries_.assign(boundaries, boundaries + ranks + 1);
    std::vector<int> color(ranks);
    int previous = -1;  // the last rank before that has any shard
    for (std::size_t r = 0; r < ranks; ++r) {
      color[r] = static_cast<int>(r);
      if (boundaries[r] == boundaries[r + 1]) continue;
      if (previous >= 0 && boundaries[r] % count != 0) color[r] = color[static_cast<std::size_t>(previous)];
      previous = static_cast<int>(r);
    }
    const auto own = static_cast<std::size_t>(all.rank());
    among_ = all.split(color[own]);
    parts_.clear();
    for (std::size_t r = 0; r < ranks; ++r)
      if (color[r] == color[own]) parts_.push_back(shared_part(boundaries[r], boundaries[r + 1]));
    bytes_.resize(parts_.size());
    offsets_.resize(parts_.size());
  }
  /// `result`: of each shard here, from number `first` on, the values of its member's shards, of which it has written its own.
  void exchange(std::byte* result, std::int64_t first, std::int64_t end, std::int64_t bytes) {
    const auto row = [&](std::int64_t shard, std::int64_t of) { return result + ((shard - first) * count_ + of % count_) * bytes; };
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
  /// The shards of a rank whose member it has not whole: of its first member, and of its last.
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

  std::int64_t count_ = 0;
  std::vector<std::int64_t> boundaries_;
  std::unique_ptr<communicator> among_;
  std::vector<part> parts_;  // by rank of `among_`
  std::vector<std::int64_t> bytes_, offsets_;
  buffer memory_;
};

}  // namespace run
}  // namespace drx
