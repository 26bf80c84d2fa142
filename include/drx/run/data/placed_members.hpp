// drx/run/data/placed_members.hpp: what placed values of all types have: the ranges of members on the ranks, the memory
// of each leaf, subsets. drx::partitions is one of these with a type.
// Tested by tests/unit/run/place_memory.cpp and tests/mpi/reductions.cpp.
#pragma once

#include <drx/core/sentence.hpp>
#include <drx/meta/hash.hpp>
#include <drx/run/data/buffer.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace drx {

/// This rank's members of a placement, in one array per leaf.
class placed_members {
 public:
  /// The number of members on all ranks.
  [[nodiscard]] std::int64_t total() const { return boundaries_.empty() ? 0 : boundaries_.back() / shards_; }
  /// The number of shards of each member (see place_sharded). If it is more than one, the functions below count shards
  /// instead of members.
  [[nodiscard]] std::int64_t shards() const { return shards_; }
  /// The axis along which leaf i is split over the shards; -1: each shard has it whole.
  [[nodiscard]] int split_axis(int i) const { return leaves_[static_cast<std::size_t>(i)].axis; }
  /// The number of the first member here.
  [[nodiscard]] std::int64_t first() const { return first_; }
  /// The number of members here.
  [[nodiscard]] std::int64_t local() const { return local_; }
  /// Rank r has the members boundaries()[r] to boundaries()[r + 1] - 1.
  [[nodiscard]] const std::vector<std::int64_t>& boundaries() const { return boundaries_; }
  /// For each member of the level around nested level k, the position of its first member, and the end.
  [[nodiscard]] const std::vector<std::int64_t>& offsets(int k) const { return offsets_[static_cast<std::size_t>(k)]; }
  /// The number of elements that each leaf has here: members or, with nested placements, those of the innermost one.
  [[nodiscard]] std::int64_t elements() const {
    return boundaries_.empty() ? 0 : offsets_.empty() ? local_ : offsets_.back().back();
  }
  /// The elements of leaf i of all members here, one member after the other.
  [[nodiscard]] std::byte* leaf(int i) const { return leaves_[static_cast<std::size_t>(i)].data; }
  /// The position of each member in the leaves; null if they are in order.
  [[nodiscard]] const std::int64_t* storage() const { return is_subset_ ? storage_.data() : nullptr; }
  /// For a subset, the numbers of its members in the whole, on all ranks, ascending, and a hash of them; null for
  /// others.
  [[nodiscard]] const std::int64_t* chosen() const { return chosen_ ? chosen_->data() : nullptr; }
  [[nodiscard]] std::int64_t choice() const { return choice_; }

 protected:
  explicit placed_members(int leaves) : leaves_(static_cast<std::size_t>(leaves)) {}
  placed_members(std::vector<std::int64_t> boundaries, int rank, std::vector<std::vector<std::int64_t>> offsets,
                 const std::vector<std::byte*>& data, std::shared_ptr<void> owner, std::int64_t shards,
                 const std::vector<int>& axes)
      : boundaries_(std::move(boundaries)), offsets_(std::move(offsets)), owner_(std::move(owner)), shards_(shards) {
    for (std::size_t i = 0; i < data.size(); ++i) leaves_.push_back({data[i], axes.empty() ? -1 : axes[i]});
    first_ = boundaries_[static_cast<std::size_t>(rank)];
    local_ = boundaries_[static_cast<std::size_t>(rank) + 1] - first_;
  }

  /// Throws std::out_of_range without an element i here, std::logic_error if its leaves are split over shards.
  void require_element(std::int64_t i) const {
    if (i < 0 || i >= elements())
      throw std::out_of_range(error::sentence({"drx::partitions: element ", i, " of ", elements()}));
    for (std::size_t k = 0; k < leaves_.size(); ++k)
      if (leaves_[k].axis >= 0)
        throw std::logic_error(
            error::sentence({"drx::partitions: leaf ", k, " is split along axis ", leaves_[k].axis, ": read leaf(k)"}));
  }
  /// Copies the leaves, of whose members each has `bytes[i]` (of all shards together), into memory of their own.
  void own_copy(const std::int64_t* bytes) {
    if (is_subset_) throw std::invalid_argument("drx::partitions::copy: of a subset");
    const auto memory = std::make_shared<std::vector<buffer>>();
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const auto n = static_cast<std::size_t>(elements() * bytes[i] / (leaves_[i].axis < 0 ? 1 : shards_));
      memory->emplace_back(n);
      if (n > 0) std::memcpy(memory->back().data(), leaves_[i].data, n);
      leaves_[i].data = memory->back().data();
    }
    owner_ = memory;
  }
  /// Keeps the given members only (see partitions::subset).
  void keep(const std::vector<std::int64_t>& members, int rank) {
    if (shards_ > 1) throw std::invalid_argument("drx::partitions::subset: of members in shards");
    if (rank < 0 || static_cast<std::size_t>(rank) + 1 >= boundaries_.size() ||
        boundaries_[static_cast<std::size_t>(rank)] != first_ ||
        boundaries_[static_cast<std::size_t>(rank) + 1] != first_ + local_)
      throw std::invalid_argument(
          error::sentence({"drx::partitions::subset: rank ", rank, " is not the one that holds these ", local_,
                           " members from ", first_, " on"}));
    std::vector<std::int64_t> boundaries(boundaries_.size(), 0), storage;
    auto chosen = std::make_shared<std::vector<std::int64_t>>();
    chosen->reserve(members.size());
    meta::digest choice;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::int64_t m = members[i];
      if (m < 0 || m >= total())
        throw std::out_of_range(error::sentence({"drx::partitions::subset: member ", m, " of ", total()}));
      if (i > 0 && m <= members[i - 1])
        throw std::out_of_range(error::sentence(
            {"drx::partitions::subset: member ", m, " after member ", members[i - 1], ": they must ascend"}));
      std::size_t owner = 0;
      while (m >= boundaries_[owner + 1]) ++owner;
      for (std::size_t b = owner + 1; b < boundaries.size(); ++b) ++boundaries[b];
      chosen->push_back(chosen_ ? (*chosen_)[static_cast<std::size_t>(m)] : m);
      choice.add(chosen->back());
      if (m >= first_ && m < first_ + local_)
        storage.push_back(is_subset_ ? storage_[static_cast<std::size_t>(m - first_)] : m - first_);
    }
    boundaries_ = std::move(boundaries);
    storage_ = std::move(storage);
    first_ = boundaries_[static_cast<std::size_t>(rank)];
    local_ = static_cast<std::int64_t>(storage_.size());
    is_subset_ = true;
    chosen_ = std::move(chosen);
    choice_ = choice.value();
  }

 private:
  struct placed_leaf {
    std::byte* data = nullptr;
    int axis = -1;
  };
  std::vector<std::int64_t> boundaries_;
  std::vector<std::vector<std::int64_t>> offsets_;  // by nested level
  std::shared_ptr<void> owner_;                     // of the leaves' memory
  std::vector<placed_leaf> leaves_;
  std::int64_t shards_ = 1;
  std::int64_t first_ = 0, local_ = 0;
  std::vector<std::int64_t> storage_;
  std::shared_ptr<const std::vector<std::int64_t>> chosen_;
  std::int64_t choice_ = 0;
  bool is_subset_ = false;
};

}  // namespace drx
