// drx/run/call/members.hpp: the number of members of each placement in a call. Arguments, the program and its options
// give such numbers, which must agree.
#pragma once

#include <drx/run/call/compile_options.hpp>
#include <drx/run/data/partitions.hpp>
#include <drx/run/data/placed_storage.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace drx::run {

/// The numbers of members in a call. `name` is always the origin of a number, for messages.
template <class C>
class call_members {
 protected:
  /// The number of shards of a placement's member.
  static constexpr std::int64_t shards_of(const placement_info* p) { return C::mesh.count > 0 && C::mesh.members == p ? C::mesh.count : 1; }
  /// The axis along which `part` is shorter; -1 if there is none.
  static constexpr int split_axis(const shape& whole, const shape& part) {
    for (int k = 0; k < whole.rank; ++k)
      if (whole[k] != part[k]) return k;
    return -1;
  }
  /// All arguments placed at one placement must agree on its members.
  void agree(int p, const membership& m, std::string_view name) {
    if (p < 0) return;  // the program does not use it
    membership& known = members_[static_cast<std::size_t>(p)];
    const auto placement = [p] { return std::string(C::placements.placement[p]->name); };  // (a correct call allocates nothing)
    if (known.total < 0) {
      known = m;
      return;
    }
    if (known.total != m.total)
      throw std::invalid_argument("drx: " + std::string(name) + " has " + std::to_string(m.total) + " members of " + placement() +
                                  "; an earlier argument has " + std::to_string(known.total));
    const auto other_subset = [&] {
      return std::invalid_argument("drx: " + std::string(name) + " is another subset of " + placement() + " than an earlier argument");
    };
    if (m.chosen && known.chosen && m.choice != known.choice) throw other_subset();  // thrown on all ranks, also on those with no member of it
    if ((m.storage || known.storage) && m.local == known.local)
      for (std::int64_t i = 0; i < m.local; ++i)
        if ((m.storage ? m.storage[i] : i) != (known.storage ? known.storage[i] : i))
          throw other_subset();
    if (m.boundaries && known.boundaries)
      for (int r = 0; r <= runtime_.communicator->size(); ++r)
        if (m.boundaries[r] != known.boundaries[r])
          throw std::invalid_argument("drx: " + std::string(name) + " lies on the ranks in other blocks of " + placement() + " than an earlier argument");
    if (m.offsets && known.offsets && m.offsets != known.offsets)
      for (std::int64_t i = 0; i <= m.local; ++i)
        if (m.offsets[i] != known.offsets[i])
          throw std::invalid_argument("drx: " + std::string(name) + " has other numbers of " + placement() + " per member than an earlier argument");
  }
  /// Sets the number of members of a placement (at each member of its parent), as the program or its options give it.
  void has_members(int p, std::int64_t count, std::string_view name) {
    const auto at = static_cast<std::size_t>(p);
    if (boundaries_.empty()) boundaries_.resize(members_.size());
    auto& list = boundaries_[at];
    membership m;
    if (C::placements.parent[p] < 0) {
      const std::int64_t shards = shards_of(C::placements.placement[p]);
      if (list.empty()) list = blocks_of_shards(count / shards, shards, runtime_.communicator->size());
      const auto rank = static_cast<std::size_t>(runtime_.communicator->rank());
      m.total = count;
      m.first = list[rank];
      m.local = list[rank + 1] - list[rank];
      m.boundaries = list.data();
    } else {
      const membership& parent = members_[static_cast<std::size_t>(C::placements.parent[p])];
      std::int64_t parents = parent.offsets ? parent.total : parent.local;
      if (parent.storage)
        for (std::int64_t i = 0; i < parent.local; ++i) parents = std::max(parents, parent.storage[i] + 1);
      if (static_cast<std::int64_t>(list.size()) != parents + 1) {
        list.resize(static_cast<std::size_t>(parents) + 1);
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int64_t>(i) * count;
      }
      m.offsets = list.data();
      m.local = parents;
      m.total = list.back();
    }
    agree(p, m, name);
  }
  /// Takes the numbers that the program and its options give. After it all numbers are known.
  void known_counts() {
    for (const auto& c : options_.members) {
      const int p = C::placements.index(c.placement);
      if (p < 0 || C::placements.parent[p] >= 0) continue;
      has_members(p, c.count * shards_of(c.placement), "compile_options::members");
    }
    for_each_stage<C>([&]<int E>(std::integral_constant<int, E>) {
      if constexpr (C::tape.entries[E].number >= 0)
        has_members(C::placements.index(C::tape.entries[E].placement), static_cast<std::int64_t>(C::tape.entries[E].number),
                    "the program, which distributes or gathers an array,");
    });
    known_nested_counts();
    for (int p = 0; p < C::placements.count; ++p)
      if (members_[static_cast<std::size_t>(p)].total < 0)
        throw std::invalid_argument("drx: no argument tells how many members " + std::string(C::placements.placement[p]->name) +
                                    " has; compile with {.members = {drx::members<" + std::string(C::placements.placement[p]->name) + ">(n)}}");
  }

  /// For a nested placement: the number of members at each member of the outer one.
  void known_nested_counts() {
    for (int depth = 1; depth < C::placements.count; ++depth)  // parents are known before
      for (const auto& c : options_.members) {
        const int p = C::placements.index(c.placement), parent = p < 0 ? -1 : C::placements.parent[p];
        if (parent < 0 || members_[static_cast<std::size_t>(parent)].total < 0) continue;
        const membership& m = members_[static_cast<std::size_t>(p)];
        if (m.total < 0) has_members(p, c.count, "compile_options::members");
        for (std::int64_t i = 0; i < m.local; ++i)
          if (const std::int64_t n = m.offsets[i + 1] - m.offsets[i]; n != c.count)
            throw std::invalid_argument("drx: compile_options::members: " + std::to_string(c.count) + " of " + std::string(c.placement->name) +
                                        " at each member of " + std::string(C::placements.placement[parent]->name) + "; the arguments, or the program, have " + std::to_string(n));
      }
  }

  void prepare_shards() {
    if constexpr (C::mesh.count > 0) {
      const auto& m = members_[static_cast<std::size_t>(C::placements.index(C::mesh.members))];
      if (m.total == 0)  // (loops could not carry parts)
        throw std::invalid_argument("drx: a program with layouts needs members of " + std::string(C::mesh.members->name) + ", and there are none");
      runtime_.shards.prepare(*runtime_.communicator, m.boundaries, C::mesh.count);
      runtime_.columns.prepare(*runtime_.communicator, m.boundaries, C::mesh.count);
    }
  }

  compile_options options_;
  runtime runtime_;
  std::vector<membership> members_;  // by placement
  std::vector<std::vector<std::int64_t>> boundaries_;  // by placement: for members whose number no argument gives
};

}  // namespace drx::run
