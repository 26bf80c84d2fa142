// drx/run/call/members.hpp: the number of members of each placement in a call. Arguments, the program and its options
// give such numbers, which must agree.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/core/sentence.hpp>
#include <drx/run/call/state.hpp>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace drx::run {

/// The origin of a number of members, for messages: an argument of the call, or these words.
struct members_origin {
  int argument = 0;
  std::string_view words = {};

  [[nodiscard, gnu::cold]] std::string name() const {
    return words.empty() ? error::sentence({"argument ", argument}) : std::string(words);
  }
};

/// The numbers of members in a call.
struct call_members {
  const call_facts& facts;
  call_state& s;

  /// Sets the members of placement p to m. All that give members of one placement must agree on them.
  void agree(int p, const membership& m, const members_origin& from) const {
    if (p < 0) return;  // the program does not use it
    membership& known = members_of(p);
    if (known.total < 0) {
      known = m;
      return;
    }
    if (known.total != m.total)
      refuse({"drx: ", from.name(), " has ", m.total, " members of ", name_of(p), "; an earlier argument has ",
              known.total});
    const auto refuse_subset = [&] {
      refuse({"drx: ", from.name(), " is another subset of ", name_of(p), " than an earlier argument"});
    };
    if (m.chosen && known.chosen && m.choice != known.choice) refuse_subset();  // (on ranks without such members too)
    if ((m.storage || known.storage) && m.local == known.local)
      for (std::int64_t i = 0; i < m.local; ++i)
        if ((m.storage ? m.storage[i] : i) != (known.storage ? known.storage[i] : i)) refuse_subset();
    if (m.boundaries && known.boundaries)
      for (int r = 0; r <= s.runtime.communicator->size(); ++r)
        if (m.boundaries[r] != known.boundaries[r])
          refuse({"drx: ", from.name(), " lies on the ranks in other blocks of ", name_of(p),
                  " than an earlier argument"});
    if (m.offsets && known.offsets && m.offsets != known.offsets)
      for (std::int64_t i = 0; i <= m.local; ++i)
        if (m.offsets[i] != known.offsets[i])
          refuse({"drx: ", from.name(), " has other numbers of ", name_of(p), " per member than an earlier argument"});
  }
  /// Takes the numbers that the program and its options give. After it the members of all placements are known.
  void complete() const {
    constexpr members_origin options{.words = "compile_options::members"};
    const int placements = static_cast<int>(facts.placements.size());
    for (const member_count& c : s.options.members) {
      const int p = facts.index(c.placement);
      if (p >= 0 && facts.at(p).parent < 0) set_count(p, c.count * facts.at(p).shards, options);
    }
    for (const given_members& g : facts.given)
      set_count(g.placement, g.count, {.words = "the program, which distributes or gathers an array,"});
    for (int depth = 1; depth < placements; ++depth)  // parents are known before
      for (const member_count& c : s.options.members) {
        const int p = facts.index(c.placement), parent = p < 0 ? -1 : facts.at(p).parent;
        if (parent < 0 || members_of(parent).total < 0) continue;
        if (members_of(p).total < 0) set_count(p, c.count, options);
        require_count_at_each(members_of(p), p, c.count);
      }
    for (int p = 0; p < placements; ++p) {
      if (members_of(p).total < 0)
        refuse({"drx: no argument tells how many members ", name_of(p), " has; compile with {.members = {drx::members<",
                name_of(p), ">(n)}}"});
      require_at_most(members_of(p), p);
    }
  }
  /// Finds the ranks that share a member with this one, in a program whose members are split over shards.
  void prepare_shards() const {
    const membership& m = members_of(facts.sharded);
    if (m.total == 0)  // (loops could not carry parts)
      refuse({"drx: a program with layouts needs members of ", name_of(facts.sharded), ", and there are none"});
    const std::int64_t shards = facts.at(facts.sharded).shards;
    s.runtime.shards.prepare(*s.runtime.communicator, m.boundaries, shards);
    s.runtime.columns.prepare(*s.runtime.communicator, m.boundaries, shards);
  }

 private:
  [[noreturn, gnu::cold]] static void refuse(std::initializer_list<error::word> words) {
    throw std::invalid_argument(error::sentence(words));
  }
  [[nodiscard]] membership& members_of(int p) const { return s.members[static_cast<std::size_t>(p)]; }
  [[nodiscard]] std::string_view name_of(int p) const { return facts.at(p).info->name; }

  /// Sets the number of members of placement p (at each member of its parent), as the program or its options give it.
  void set_count(int p, std::int64_t count, const members_origin& from) const {
    if (s.boundaries.empty()) s.boundaries.resize(s.members.size());
    std::vector<std::int64_t>& list = s.boundaries[static_cast<std::size_t>(p)];
    membership m;
    if (facts.at(p).parent < 0) {
      const std::int64_t shards = facts.at(p).shards;
      if (list.empty()) list = boundaries_of_shards(count / shards, shards, s.runtime.communicator->size());
      const auto rank = static_cast<std::size_t>(s.runtime.communicator->rank());
      m.total = count;
      m.first = list[rank];
      m.local = list[rank + 1] - list[rank];
      m.boundaries = list.data();
    } else {
      const membership& parent = members_of(facts.at(p).parent);
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
    agree(p, m, from);
  }
  /// Requires that placement p has no more members than it says.
  void require_at_most(const membership& m, int p) const {
    const placement_facts& placement = facts.at(p);
    const std::int64_t most = placement.info->most_members;
    if (most == placement_info::any_number) return;
    const auto require = [&](std::int64_t n) {
      if (n > most) refuse({"drx: ", n, " members of ", name_of(p), ", whose most_members is ", most});
    };
    if (placement.parent < 0) return require(m.total / placement.shards);
    for (std::int64_t i = 0; i < m.local; ++i) require(m.offsets[i + 1] - m.offsets[i]);
  }
  /// Requires that nested placement p has as many members at each member of its parent as the options say.
  void require_count_at_each(const membership& m, int p, std::int64_t count) const {
    for (std::int64_t i = 0; i < m.local; ++i)
      if (const std::int64_t n = m.offsets[i + 1] - m.offsets[i]; n != count)
        refuse({"drx: compile_options::members: ", count, " of ", name_of(p), " at each member of ",
                name_of(facts.at(p).parent), "; the arguments, or the program, have ", n});
  }
};

}  // namespace drx::run
