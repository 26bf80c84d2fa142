// drx/run/call/members.hpp: the number of members of each placement in a call. Arguments, the program and its options
// give such numbers, which must agree.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/run/call/facts.hpp>
#include <drx/run/call/state.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace drx::run {

/// The numbers of members in a call. `name` is always the origin of a number, for messages.
template <class C>
struct call_members {
  using facts = call_facts<C>;

  /// Sets the members of placement p to m. All that give members of one placement must agree on them.
  static void agree(call_state& s, int p, const membership& m, std::string_view name) {
    if (p < 0) return;  // the program does not use it
    membership& known = members_of(s, p);
    if (known.total < 0) {
      known = m;
      return;
    }
    if (known.total != m.total)
      throw std::invalid_argument("drx: " + std::string(name) + " has " + std::to_string(m.total) + " members of " +
                                  name_of(p) + "; an earlier argument has " + std::to_string(known.total));
    const auto other_subset = [&] {
      return std::invalid_argument("drx: " + std::string(name) + " is another subset of " + name_of(p) +
                                   " than an earlier argument");
    };
    if (m.chosen && known.chosen && m.choice != known.choice)
      throw other_subset();  // (on ranks without such members too)
    if ((m.storage || known.storage) && m.local == known.local)
      for (std::int64_t i = 0; i < m.local; ++i)
        if ((m.storage ? m.storage[i] : i) != (known.storage ? known.storage[i] : i)) throw other_subset();
    if (m.boundaries && known.boundaries)
      for (int r = 0; r <= s.runtime.communicator->size(); ++r)
        if (m.boundaries[r] != known.boundaries[r])
          throw std::invalid_argument("drx: " + std::string(name) + " lies on the ranks in other blocks of " +
                                      name_of(p) + " than an earlier argument");
    if (m.offsets && known.offsets && m.offsets != known.offsets)
      for (std::int64_t i = 0; i <= m.local; ++i)
        if (m.offsets[i] != known.offsets[i])
          throw std::invalid_argument("drx: " + std::string(name) + " has other numbers of " + name_of(p) +
                                      " per member than an earlier argument");
  }
  /// Takes the numbers that the program and its options give. After it the members of all placements are known.
  static void complete(call_state& s) {
    constexpr std::string_view options = "compile_options::members";
    for (const member_count& c : s.options.members) {
      const int p = C::placements.index(c.placement);
      if (p >= 0 && C::placements.parent[p] < 0) set_count(s, p, c.count * facts::shards_of(c.placement), options);
    }
    for_each_stage<C>([&]<int E>(std::integral_constant<int, E>) {
      constexpr std::optional<std::int64_t> n = prim::rules::stage::view(C::attributes(E)).members;
      if constexpr (n)
        set_count(s, C::placements.index(C::tape.entries[E].placement), *n,
                  "the program, which distributes or gathers an array,");
    });
    for (int depth = 1; depth < C::placements.count; ++depth)  // parents are known before
      for (const member_count& c : s.options.members) {
        const int p = C::placements.index(c.placement), parent = p < 0 ? -1 : C::placements.parent[p];
        if (parent < 0 || members_of(s, parent).total < 0) continue;
        if (members_of(s, p).total < 0) set_count(s, p, c.count, options);
        require_count_at_each(members_of(s, p), p, c.count);
      }
    for (int p = 0; p < C::placements.count; ++p) {
      if (members_of(s, p).total < 0)
        throw std::invalid_argument("drx: no argument tells how many members " + name_of(p) +
                                    " has; compile with {.members = {drx::members<" + name_of(p) + ">(n)}}");
      require_at_most(members_of(s, p), p);
    }
  }
  /// Finds the ranks that share a member with this one, where members are split over shards.
  static void prepare_shards(call_state& s) {
    if constexpr (C::mesh.count > 0) {
      constexpr int p = C::placements.index(C::mesh.members);
      const membership& m = members_of(s, p);
      if (m.total == 0)  // (loops could not carry parts)
        throw std::invalid_argument("drx: a program with layouts needs members of " + name_of(p) +
                                    ", and there are none");
      s.runtime.shards.prepare(*s.runtime.communicator, m.boundaries, C::mesh.count);
      s.runtime.columns.prepare(*s.runtime.communicator, m.boundaries, C::mesh.count);
    }
  }

 private:
  static membership& members_of(call_state& s, int p) { return s.members[static_cast<std::size_t>(p)]; }
  static std::string name_of(int p) { return std::string(C::placements.placement[p]->name); }

  /// Sets the number of members of placement p (at each member of its parent), as the program or its options give it.
  static void set_count(call_state& s, int p, std::int64_t count, std::string_view name) {
    if (s.boundaries.empty()) s.boundaries.resize(s.members.size());
    std::vector<std::int64_t>& list = s.boundaries[static_cast<std::size_t>(p)];
    membership m;
    if (C::placements.parent[p] < 0) {
      const std::int64_t shards = facts::shards_of(C::placements.placement[p]);
      if (list.empty()) list = boundaries_of_shards(count / shards, shards, s.runtime.communicator->size());
      const auto rank = static_cast<std::size_t>(s.runtime.communicator->rank());
      m.total = count;
      m.first = list[rank];
      m.local = list[rank + 1] - list[rank];
      m.boundaries = list.data();
    } else {
      const membership& parent = members_of(s, C::placements.parent[p]);
      std::int64_t parents = parent.offsets ? parent.total : parent.local;
      for (std::int64_t i = 0; parent.storage && i < parent.local; ++i)
        parents = std::max(parents, parent.storage[i] + 1);
      if (static_cast<std::int64_t>(list.size()) != parents + 1) {
        list.resize(static_cast<std::size_t>(parents) + 1);
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int64_t>(i) * count;
      }
      m.offsets = list.data();
      m.local = parents;
      m.total = list.back();
    }
    agree(s, p, m, name);
  }
  /// Requires that placement p has no more members than it says.
  static void require_at_most(const membership& m, int p) {
    const placement_info& placement = *C::placements.placement[p];
    if (placement.most_members == placement_info::any_number) return;
    const auto require = [&](std::int64_t n) {
      if (n > placement.most_members)
        throw std::invalid_argument("drx: " + std::to_string(n) + " members of " + name_of(p) +
                                    ", whose most_members is " + std::to_string(placement.most_members));
    };
    if (C::placements.parent[p] < 0) return require(m.total / facts::shards_of(&placement));
    for (std::int64_t i = 0; i < m.local; ++i) require(m.offsets[i + 1] - m.offsets[i]);
  }
  /// Requires that nested placement p has as many members at each member of its parent as the options say.
  static void require_count_at_each(const membership& m, int p, std::int64_t count) {
    for (std::int64_t i = 0; i < m.local; ++i)
      if (const std::int64_t n = m.offsets[i + 1] - m.offsets[i]; n != count)
        throw std::invalid_argument("drx: compile_options::members: " + std::to_string(count) + " of " + name_of(p) +
                                    " at each member of " + name_of(C::placements.parent[p]) +
                                    "; the arguments, or the program, have " + std::to_string(n));
  }
};

}  // namespace drx::run
