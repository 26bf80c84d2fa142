// drx/run/data/partitions.hpp: placed values at run time: each rank holds a contiguous range of the members, in one
// array per leaf: [member][elements]; for a nested placement [member][member of it][elements], with offsets.
// Tested by tests/unit/run/place_memory.cpp and tests/mpi/reductions.cpp.
#pragma once

#include <drx/core/structure.hpp>
#include <drx/meta/hash.hpp>
#include <drx/run/data/shards.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace drx {

namespace detail {
/// S without its nested placements, and those placements.
template <class S>
struct innermost {
  using type = S;
  static constexpr int levels = 0;
};
template <class S, class P>
struct innermost<placed<S, P>> {
  using type = typename innermost<S>::type;
  static constexpr int levels = 1 + innermost<S>::levels;
};
}  // namespace detail

/// A placed value at run time: the values of this rank's members of P.
template <class S, class P>
class partitions {
 public:
  using member = S;
  using placement = P;
  using element = typename detail::innermost<S>::type;
  static constexpr int leaves = leaf_count<S>;
  static constexpr int levels = detail::innermost<S>::levels;  // nested placements

  partitions() = default;

  /// The number of members on all ranks.
  [[nodiscard]] std::int64_t total() const { return boundaries_.empty() ? 0 : boundaries_.back() / shards_; }
  /// The number of shards of each member (see place_sharded). If it is more than one, the functions below count shards
  /// instead of members.
  [[nodiscard]] std::int64_t shards() const { return shards_; }
  /// The axis along which leaf i is split over the shards; -1: each shard has it whole.
  [[nodiscard]] int split_axis(int i) const { return axis_[i]; }
  /// The number of the first member here.
  [[nodiscard]] std::int64_t first() const { return first_; }
  /// The number of members here.
  [[nodiscard]] std::int64_t local() const { return local_; }
  /// Rank r has the members boundaries()[r] to boundaries()[r + 1] - 1.
  [[nodiscard]] const std::vector<std::int64_t>& boundaries() const { return boundaries_; }
  /// For each member of the level around nested level k, the position of its first member, and the end.
  [[nodiscard]] const std::vector<std::int64_t>& offsets(int k) const { return offsets_[static_cast<std::size_t>(k)]; }
  /// The number of elements that each leaf has here.
  [[nodiscard]] std::int64_t elements() const { return levels == 0 ? local_ : offsets_.back().back(); }
  /// The elements of leaf i of all members here, one member after the other.
  [[nodiscard]] std::byte* leaf(int i) const { return data_[i]; }

  /// Element i here (a member; with nested placements, a member of the innermost one).
  [[nodiscard]] host_t<element> operator[](std::int64_t i) const {
    if (i < 0 || i >= elements())
      throw std::out_of_range("drx::partitions: element " + std::to_string(i) + " of " + std::to_string(elements()));
    for (int k = 0; k < leaves; ++k)
      if (axis_[k] >= 0)
        throw std::logic_error("drx::partitions: leaf " + std::to_string(k) + " is split along axis " +
                               std::to_string(axis_[k]) + ": read leaf(k)");
    host_t<element> x{};
    int k = 0;
    structure<host_t<element>>::visit(x, [&](auto* p, const shape& s) {
      const std::size_t n = static_cast<std::size_t>(s.size()) * sizeof(*p);
      std::memcpy(p, data_[k++] + static_cast<std::size_t>(i) * n, n);
    });
    return x;
  }

  /// These partitions in memory of their own, for a placed result, which the next call of its program overwrites.
  [[nodiscard]] partitions copy() const {
    if (is_subset_) throw std::invalid_argument("drx::partitions::copy: of a subset");
    partitions r = *this;
    const auto memory = std::make_shared<std::vector<buffer>>();
    constexpr leaf_types<S> types;
    for (int i = 0; i < leaves; ++i) {
      const auto bytes = static_cast<std::size_t>(elements() * types[i].shape.size() / (axis_[i] < 0 ? 1 : shards_) *
                                                  byte_size(types[i].type));
      memory->emplace_back(bytes);
      if (bytes > 0) std::memcpy(memory->back().data(), data_[i], bytes);
      r.data_[i] = memory->back().data();
    }
    r.owner_ = memory;
    return r;
  }

  /// The given members only (numbers among all members, ascending; the same list on every rank), renumbered from 0. No
  /// data moves between ranks. Valid as long as these partitions.
  [[nodiscard]] partitions subset(const std::vector<std::int64_t>& members, int rank) const {
    if (shards_ > 1) throw std::invalid_argument("drx::partitions::subset: of members in shards");
    if (rank < 0 || static_cast<std::size_t>(rank) + 1 >= boundaries_.size() ||
        boundaries_[static_cast<std::size_t>(rank)] != first_ ||
        boundaries_[static_cast<std::size_t>(rank) + 1] != first_ + local_)
      throw std::invalid_argument("drx::partitions::subset: rank " + std::to_string(rank) +
                                  " is not the one that holds these " + std::to_string(local_) + " members from " +
                                  std::to_string(first_) + " on");
    partitions r = *this;
    r.storage_.clear();
    auto chosen = std::make_shared<std::vector<std::int64_t>>();
    chosen->reserve(members.size());
    meta::digest choice;
    std::fill(r.boundaries_.begin(), r.boundaries_.end(), 0);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::int64_t m = members[i];
      if (m < 0 || m >= total())
        throw std::out_of_range("drx::partitions::subset: member " + std::to_string(m) + " of " +
                                std::to_string(total()));
      if (i > 0 && m <= members[i - 1])
        throw std::out_of_range("drx::partitions::subset: member " + std::to_string(m) + " after member " +
                                std::to_string(members[i - 1]) + ": they must ascend");
      std::size_t owner = 0;
      while (m >= boundaries_[owner + 1]) ++owner;
      for (std::size_t b = owner + 1; b < boundaries_.size(); ++b) ++r.boundaries_[b];
      chosen->push_back(chosen_ ? (*chosen_)[static_cast<std::size_t>(m)] : m);
      choice.add(chosen->back());
      if (m >= first_ && m < first_ + local_)
        r.storage_.push_back(storage_.empty() ? m - first_ : storage_[static_cast<std::size_t>(m - first_)]);
    }
    r.first_ = r.boundaries_[static_cast<std::size_t>(rank)];
    r.local_ = static_cast<std::int64_t>(r.storage_.size());
    r.is_subset_ = true;
    r.chosen_ = std::move(chosen);
    r.choice_ = choice.value();
    return r;
  }
  /// The position of each member in the leaves; null if they are in order.
  [[nodiscard]] const std::int64_t* storage() const { return is_subset_ ? storage_.data() : nullptr; }
  /// For a subset, the numbers of its members in the whole, on all ranks, ascending, and a hash of them; null for
  /// others.
  [[nodiscard]] const std::int64_t* chosen() const { return chosen_ ? chosen_->data() : nullptr; }
  [[nodiscard]] std::int64_t choice() const { return choice_; }

  /// Members [boundaries[rank], boundaries[rank + 1]) are here; `owner` holds their memory.
  partitions(std::vector<std::int64_t> boundaries, int rank, std::vector<std::vector<std::int64_t>> offsets,
             const std::vector<std::byte*>& data, std::shared_ptr<void> owner, std::int64_t shards = 1,
             const std::vector<int>& axes = {})
      : boundaries_(std::move(boundaries)), offsets_(std::move(offsets)), owner_(std::move(owner)), shards_(shards) {
    for (int i = 0; i < leaves; ++i) axis_[i] = axes.empty() ? -1 : axes[static_cast<std::size_t>(i)];
    first_ = boundaries_[static_cast<std::size_t>(rank)];
    local_ = boundaries_[static_cast<std::size_t>(rank) + 1] - first_;
    for (int i = 0; i < leaves; ++i) data_[i] = data[static_cast<std::size_t>(i)];
  }

 private:
  std::vector<std::int64_t> boundaries_;
  std::vector<std::vector<std::int64_t>> offsets_;
  std::shared_ptr<void> owner_;
  std::byte* data_[leaves > 0 ? leaves : 1] = {};
  int axis_[leaves > 0 ? leaves : 1] = {};
  std::int64_t shards_ = 1;
  std::int64_t first_ = 0, local_ = 0;
  std::vector<std::int64_t> storage_;
  std::shared_ptr<const std::vector<std::int64_t>> chosen_;
  std::int64_t choice_ = 0;
  bool is_subset_ = false;
};

namespace detail {
/// Collects members one after the other into an array per leaf.
template <class X>
struct leaf_arrays {
  std::vector<std::vector<std::byte>> bytes{static_cast<std::size_t>(leaf_count<X>)};
  template <class V>
  void append(const V& x) {
    std::size_t k = 0;
    structure<V>::visit(x, [&](const auto* p, const shape& s) {
      const auto* raw = reinterpret_cast<const std::byte*>(p);
      bytes[k].insert(bytes[k].end(), raw, raw + static_cast<std::size_t>(s.size()) * sizeof(*p));
      ++k;
    });
    if (k != bytes.size()) throw std::logic_error("drx::place: the members differ in structure");
  }
};
struct owned_leaves {
  std::vector<buffer> leaf;
};
/// Checks that there is one range of members per rank, in order, the same on every rank.
inline void check_boundaries(communicator& c, const std::vector<std::int64_t>& boundaries) {
  if (boundaries.size() != static_cast<std::size_t>(c.size()) + 1)
    throw std::invalid_argument("drx::place: " + std::to_string(boundaries.size()) + " boundaries of blocks; ranks: " +
                                std::to_string(c.size()) + ", which need one more than that");
  if (boundaries.front() != 0)
    throw std::invalid_argument("drx::place: the first block begins at member " + std::to_string(boundaries.front()) +
                                ", not at 0");
  for (std::size_t r = 1; r < boundaries.size(); ++r)
    if (boundaries[r] < boundaries[r - 1])
      throw std::invalid_argument("drx::place: the block of rank " + std::to_string(r - 1) + " ends at member " +
                                  std::to_string(boundaries[r]) + ", before its beginning at " +
                                  std::to_string(boundaries[r - 1]));
  for (auto b : boundaries) c.require_equal(b, "drx::place: the number of members, or a block's boundary");
}
template <class X>
std::pair<std::vector<std::byte*>, std::shared_ptr<void>> aligned(const leaf_arrays<X>& from) {
  auto owner = std::make_shared<owned_leaves>();
  std::vector<std::byte*> data;
  for (const auto& b : from.bytes) {
    owner->leaf.emplace_back(b.size());
    if (!b.empty()) std::memcpy(owner->leaf.back().data(), b.data(), b.size());
    data.push_back(owner->leaf.back().data());
  }
  return {data, owner};
}
}  // namespace detail

/// Places members 0 .. n-1 of P, in even ranges over the ranks; load(i) is called for this rank's own members only.
/// Every rank gives the same n. The second form takes the ranges' boundaries.
template <class P, class Load>
auto place(communicator& c, std::vector<std::int64_t> boundaries, Load&& load) {
  using S = canonical_t<std::remove_cvref_t<decltype(load(std::int64_t{}))>>;
  detail::check_boundaries(c, boundaries);
  detail::leaf_arrays<S> leaves;
  const auto rank = static_cast<std::size_t>(c.rank());
  for (std::int64_t i = boundaries[rank]; i < boundaries[rank + 1]; ++i) leaves.append(load(i));
  auto [data, owner] = detail::aligned(leaves);
  return partitions<S, P>(std::move(boundaries), c.rank(), {}, data, owner);
}
template <class P, class Load>
auto place(communicator& c, std::int64_t n, Load&& load) {
  if (n < 0) throw std::invalid_argument("drx::place: " + std::to_string(n) + " members");
  c.require_equal(n, "drx::place: the number of members");
  return place<P>(c, even_blocks(n, c.size()), std::forward<Load>(load));
}
/// Places members 0 .. n-1 of P, as drx::place does, each with members of its own of placement Q: load(i) returns a
/// range of the members of member i.
template <class P, class Q, class Load>
auto place_nested(communicator& c, std::vector<std::int64_t> boundaries, Load&& load) {
  using range = std::remove_cvref_t<decltype(load(std::int64_t{}))>;
  using S = canonical_t<std::remove_cvref_t<decltype(*std::begin(std::declval<const range&>()))>>;
  detail::check_boundaries(c, boundaries);
  detail::leaf_arrays<S> leaves;
  std::vector<std::int64_t> offsets{0};
  const auto rank = static_cast<std::size_t>(c.rank());
  for (std::int64_t i = boundaries[rank]; i < boundaries[rank + 1]; ++i) {
    const auto& rows = load(i);
    std::int64_t n = 0;
    for (const auto& row : rows) {
      leaves.append(row);
      ++n;
    }
    offsets.push_back(offsets.back() + n);
  }
  auto [data, owner] = detail::aligned(leaves);
  return partitions<placed<S, Q>, P>(std::move(boundaries), c.rank(), {std::move(offsets)}, data, owner);
}
template <class P, class Q, class Load>
auto place_nested(communicator& c, std::int64_t n, Load&& load) {
  if (n < 0) throw std::invalid_argument("drx::place: " + std::to_string(n) + " members");
  c.require_equal(n, "drx::place: the number of members");
  return place_nested<P, Q>(c, even_blocks(n, c.size()), std::forward<Load>(load));
}

namespace detail {
/// Appends part `shard` of `count` of an array along an axis (all of it if that is -1).
inline void append_part(std::vector<std::byte>& to, const std::byte* from, const shape& s, int axis, std::int64_t width,
                        std::int64_t shard, std::int64_t count) {
  std::int64_t runs = 1, bytes = width;  // a run of bytes for each index before the axis
  for (int i = 0; i < s.rank; ++i) (i < axis ? runs : bytes) *= s[i];
  const std::int64_t part = axis < 0 ? bytes : bytes / count;
  for (std::int64_t i = 0; i < runs; ++i, from += bytes) {
    const std::byte* at = from + (axis < 0 ? 0 : shard * part);
    to.insert(to.end(), at, at + part);
  }
}
}  // namespace detail

/// Places members of P that a program splits over `shards` shards of a mesh (with_layout): a member may then lie on
/// several ranks. Leaf i of a member is split into that many parts along axes[i], or is whole at each shard if that is
/// -1; without axes all leaves are whole. load(i) returns member i, on each rank that has a shard of it, which keeps
/// only its own parts.
template <class P, class Load>
auto place_sharded(communicator& c, std::int64_t n, std::int64_t shards, Load&& load, std::vector<int> axes = {}) {
  using S = canonical_t<std::remove_cvref_t<decltype(load(std::int64_t{}))>>;
  if (n < 0 || shards < 1)
    throw std::invalid_argument("drx::place_sharded: " + std::to_string(n) + " members in " + std::to_string(shards) +
                                " shards");
  c.require_equal(n, "drx::place_sharded: the number of members");
  c.require_equal(shards, "drx::place_sharded: the number of shards");
  constexpr leaf_types<S> types;
  if (axes.empty()) axes.assign(static_cast<std::size_t>(leaf_count<S>), -1);
  if (axes.size() != static_cast<std::size_t>(leaf_count<S>))
    throw std::invalid_argument("drx::place_sharded: " + std::to_string(axes.size()) + " axes for " +
                                std::to_string(leaf_count<S>) + " leaves");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const shape& s = types[static_cast<int>(i)].shape;
    if (axes[i] < -1 || axes[i] >= s.rank || (axes[i] >= 0 && s[axes[i]] % shards != 0))
      throw std::invalid_argument("drx::place_sharded: leaf " + std::to_string(i) + " is " +
                                  show(types[static_cast<int>(i)]) + ": axis " + std::to_string(axes[i]) + " has no " +
                                  std::to_string(shards) + " equal parts");
  }
  auto boundaries = boundaries_of_shards(n, shards, c.size());
  detail::leaf_arrays<S> parts;
  const auto rank = static_cast<std::size_t>(c.rank());
  for (std::int64_t at = boundaries[rank]; at < boundaries[rank + 1];) {
    const std::int64_t member = at / shards;
    const auto x = load(member);
    for (; at < boundaries[rank + 1] && at / shards == member; ++at) {
      std::size_t k = 0;
      structure<std::remove_cvref_t<decltype(x)>>::visit(x, [&](const auto* p, const shape& s) {
        detail::append_part(parts.bytes[k], reinterpret_cast<const std::byte*>(p), s, axes[k],
                            static_cast<std::int64_t>(sizeof(*p)), at % shards, shards);
        ++k;
      });
    }
  }
  auto [data, owner] = detail::aligned(parts);
  return partitions<S, P>(std::move(boundaries), c.rank(), {}, data, owner, shards, axes);
}

/// Places members of P whose values already lie in memory, one array per leaf of S, [member][elements]: anything with
/// data() and size() (std::span, std::vector, Eigen and Kokkos containers in row-major order). Nothing is copied: the
/// memory must outlive the partitions. Each rank gives its own range of members; all give the same boundaries.
template <class P, class S, class... Leaf>
partitions<canonical_t<S>, P> place_memory(communicator& c, std::vector<std::int64_t> boundaries, Leaf&... leaf) {
  static_assert(sizeof...(Leaf) == leaf_count<S>, "drx::place_memory: one array for each leaf of S");
  detail::check_boundaries(c, boundaries);
  const auto rank = static_cast<std::size_t>(c.rank());
  const std::int64_t local = boundaries[rank + 1] - boundaries[rank];
  constexpr leaf_types<S> types;
  std::vector<std::byte*> data;
  const auto add = [&](auto& x) {
    using T = std::remove_cvref_t<decltype(*x.data())>;
    const abstract_value& t = types[static_cast<int>(data.size())];
    const std::int64_t elements = local * t.shape.size();
    if (dtype_of<T> != t.type || static_cast<std::int64_t>(x.size()) != elements)
      throw std::invalid_argument("drx::place_memory: leaf " + std::to_string(data.size()) + " has " +
                                  std::to_string(x.size()) + " elements of " + name_of(dtype_of<T>) + "; " +
                                  std::to_string(local) + " members need " + std::to_string(elements) + " of " +
                                  name_of(t.type));
    data.push_back(reinterpret_cast<std::byte*>(const_cast<T*>(x.data())));
  };
  (add(leaf), ...);
  return partitions<canonical_t<S>, P>(std::move(boundaries), c.rank(), {}, data, nullptr);
}

}  // namespace drx
