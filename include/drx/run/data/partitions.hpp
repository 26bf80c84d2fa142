// drx/run/data/partitions.hpp: placed values at run time: each rank holds a contiguous range of the members, in one
// array per leaf: [member][elements]; for a nested placement [member][member of it][elements], with offsets.
// Tested by tests/unit/run/place_memory.cpp and tests/mpi/reductions.cpp.
#pragma once

#include <drx/core/structure.hpp>
#include <drx/run/data/placed_members.hpp>
#include <drx/run/data/shards.hpp>

#include <cstring>
#include <memory>
#include <stdexcept>
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
class partitions : public placed_members {
 public:
  using member = S;
  using placement = P;
  using element = typename detail::innermost<S>::type;
  static constexpr int leaves = leaf_count<S>;
  static constexpr int levels = detail::innermost<S>::levels;  // nested placements

  partitions() : placed_members(leaves) {}
  /// Members [boundaries[rank], boundaries[rank + 1]) are here; `owner` holds their memory.
  partitions(std::vector<std::int64_t> boundaries, int rank, std::vector<std::vector<std::int64_t>> offsets,
             const std::vector<std::byte*>& data, std::shared_ptr<void> owner, std::int64_t shards = 1,
             const std::vector<int>& axes = {})
      : placed_members(std::move(boundaries), rank, std::move(offsets), data, std::move(owner), shards, axes) {}

  /// Element i here (a member; with nested placements, a member of the innermost one).
  [[nodiscard]] host_t<element> operator[](std::int64_t i) const {
    require_element(i);
    host_t<element> x{};
    int k = 0;
    structure<host_t<element>>::visit(x, [&](auto* p, const shape& s) {
      const std::size_t n = static_cast<std::size_t>(s.size()) * sizeof(*p);
      std::memcpy(p, leaf(k++) + static_cast<std::size_t>(i) * n, n);
    });
    return x;
  }

  /// These partitions in memory of their own, for a placed result, which the next call of its program overwrites.
  [[nodiscard]] partitions copy() const {
    constexpr leaf_types<S> types;
    std::int64_t bytes[leaves + 1] = {};
    for (int i = 0; i < leaves; ++i) bytes[i] = types[i].shape.size() * byte_size(types[i].type);
    partitions r = *this;
    r.own_copy(bytes);
    return r;
  }

  /// The given members only (numbers among all members, ascending; the same list on every rank), renumbered from 0. No
  /// data moves between ranks. Valid as long as these partitions.
  [[nodiscard]] partitions subset(const std::vector<std::int64_t>& members, int rank) const {
    partitions r = *this;
    r.keep(members, rank);
    return r;
  }
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
    throw std::invalid_argument(error::sentence({"drx::place: ", boundaries.size(), " boundaries of blocks; ranks: ",
                                                 c.size(), ", which need one more than that"}));
  if (boundaries.front() != 0)
    throw std::invalid_argument(
        error::sentence({"drx::place: the first block begins at member ", boundaries.front(), ", not at 0"}));
  for (std::size_t r = 1; r < boundaries.size(); ++r)
    if (boundaries[r] < boundaries[r - 1])
      throw std::invalid_argument(error::sentence({"drx::place: the block of rank ", r - 1, " ends at member ",
                                                   boundaries[r], ", before its beginning at ", boundaries[r - 1]}));
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
  if (n < 0) throw std::invalid_argument(error::sentence({"drx::place: ", n, " members"}));
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
  if (n < 0) throw std::invalid_argument(error::sentence({"drx::place: ", n, " members"}));
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
    throw std::invalid_argument(error::sentence({"drx::place_sharded: ", n, " members in ", shards, " shards"}));
  c.require_equal(n, "drx::place_sharded: the number of members");
  c.require_equal(shards, "drx::place_sharded: the number of shards");
  constexpr leaf_types<S> types;
  if (axes.empty()) axes.assign(static_cast<std::size_t>(leaf_count<S>), -1);
  if (axes.size() != static_cast<std::size_t>(leaf_count<S>))
    throw std::invalid_argument(
        error::sentence({"drx::place_sharded: ", axes.size(), " axes for ", leaf_count<S>, " leaves"}));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const shape& s = types[static_cast<int>(i)].shape;
    if (axes[i] < -1 || axes[i] >= s.rank || (axes[i] >= 0 && s[axes[i]] % shards != 0))
      throw std::invalid_argument(
          error::sentence({"drx::place_sharded: leaf ", i, " is ", show(types[static_cast<int>(i)]), ": axis ", axes[i],
                           " has no ", shards, " equal parts"}));
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
      throw std::invalid_argument(
          error::sentence({"drx::place_memory: leaf ", data.size(), " has ", x.size(), " elements of ",
                           name_of(dtype_of<T>), "; ", local, " members need ", elements, " of ", name_of(t.type)}));
    data.push_back(reinterpret_cast<std::byte*>(const_cast<T*>(x.data())));
  };
  (add(leaf), ...);
  return partitions<canonical_t<S>, P>(std::move(boundaries), c.rank(), {}, data, nullptr);
}

}  // namespace drx
