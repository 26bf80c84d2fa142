// drx/run/stage/top.hpp: a stage over members that are dealt out to ranks: each thread goes through its share of them,
// then the ranks exchange their nodes and results.
// Tested by tests/unit/run/executor_threads.cpp and tests/mpi/reductions.cpp.
#pragma once

#include <drx/run/stage/exchange.hpp>
#include <drx/run/stage/leaves.hpp>
#include <drx/run/stage/ranks.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace drx::run {

/// `Stage`: the facts of a stage whose placement is nested in no other.
template <class Stage>
struct top_stage {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;
  using nodes = stage_nodes<Stage>;
  using leaves = stage_tree_leaves<Stage>;
  using exchange = stage_exchange<Stage>;
  using ranks = stage_ranks<Stage>;

  static void run(frame& f) {
    runtime& rt = *static_cast<runtime*>(f.runtime);
    const membership& m = f.members[Stage::p];
    exchange::require_gathered(m.total);
    f.thread = rt.threads[0].workspace.data();  // workspace for combining
    job j{&f, &rt, &m, unit_of(rt, m)};
    run_tasks(j);
    exchange::gathered(f, rt, m);
    exchange::shards(f, rt, m);
    exchange::members(f, *rt.communicator, m.boundaries, 0);
    if constexpr (Stage::node_bytes > 0) {
      buffer& spare = rt.threads[0].nodes[Stage::ordinal];  // for the results of no members
      spare.grow(static_cast<std::size_t>(Stage::node_bytes));
      node_list list = nodes_of_tasks(j, spare);
      ranks::fold(f, m, j.unit, list, spare.data(), j.lent);
    }
  }

 private:
  /// The rank's members, in tree leaves that are dealt out to tasks.
  struct job {
    frame* f;
    runtime* rt;
    const membership* members;
    std::int64_t unit;  // members of a tree leaf
    int tasks = 0;
    bool lends = false;         // whether the only member's result stays where it was computed
    std::byte* lent = nullptr;  // and where that is
    [[nodiscard]] std::int64_t leaves() const { return (members->local + unit - 1) / unit; }
    [[nodiscard]] std::int64_t first_leaf() const { return members->first / unit; }
  };
  /// The number of members in a tree leaf. Members at the top go in blocks if there are many of them. This depends on
  /// the members only, so that the tree is the same on any number of ranks (drx::place cuts between blocks).
  static std::int64_t unit_of(const runtime& rt, const membership& m) {
    if (!Stage::has_blocks || m.storage) return 1;
    const std::int64_t unit = members_in_block(m.total);
    for (int r = 1; r < rt.communicator->size(); ++r)
      if (m.boundaries[r] % unit != 0 && m.boundaries[r] != m.total)
        throw std::invalid_argument("drx: a block of members ends at " + std::to_string(m.boundaries[r]) + "; of " +
                                    std::to_string(m.total) + " members, blocks end at multiples of " +
                                    std::to_string(unit));
    return unit;
  }

  /// Whether there is a stage over members of these members.
  static constexpr bool has_nested = [] {
    for (int e = 0; e < std::remove_cvref_t<decltype(C::tape)>::sizes.entries; ++e)
      if (C::tape.entries[e].prim == &prim::stage &&
          C::placements.parent[C::placements.index(C::tape.entries[e].placement)] == Stage::p)
        return true;
    return false;
  }();
  static void run_tasks(job& j) {
    const runtime& rt = *j.rt;
    const int threads = rt.executor->concurrency();
    j.tasks = static_cast<int>(std::min<std::int64_t>(j.leaves(), threads));
    const bool alone = has_nested && j.leaves() < threads;  // few, perhaps large: threads go inside
    if (alone) j.tasks = std::min(j.tasks, 1);
    j.lends = ranks::lendable >= 0 && j.members->local == 1 && rt.communicator->size() > 1 &&
              ranks::splits(rt, *j.members, j.unit);
    for (int t = 0; t < j.tasks; ++t)
      nodes_of_task(j, t).grow((node_list::capacity(j.members->local) + 1) * Stage::node_bytes);
    share_out(j);
    if (alone && j.tasks == 1) {
      j.f->alone = true;
      run_task(&j, 0);
      j.f->alone = false;
    } else {
      rt.executor->run(j.tasks, run_task, &j);
    }
  }
  static void run_task(void* context, int task) {
    job& j = *static_cast<job*>(context);
    const membership& m = *j.members;
    const auto stored = [&](std::int64_t member) { return m.storage ? m.storage[member] : member; };
    frame f = frame_of_thread<C>(*j.f, task);
    if constexpr (ranks::lendable >= 0)
      if (j.lends) {
        std::int64_t number = m.first;
        stage_members<Stage>::template run_body<0>(f, stored(0), 0, number);
        j.lent = address<C, C::output(Stage::body, ranks::lendable)>(f);
        return;
      }
    frame other = f;
    if constexpr (Stage::ahead > 0) other = second_frame<C>(*j.f, f);
    two_frames frames{{{&f}, {&other}}};
    node_list list(nodes_of_task(j, task).data(), Stage::node_bytes);
    const std::int64_t end = begin_of(j, task + 1), last = std::min(end * j.unit, m.local);
    for (std::int64_t l = begin_of(j, task); l < end; ++l) {
      const std::int64_t member = l * j.unit, count = std::min(j.unit, m.local - member);
      leaves::push_tree_leaf(f, frames, list, j.first_leaf() + l,
                             {stored(member), member, m.first + member, count, last - member - count});
    }
  }
  /// The memory for a task's nodes.
  static buffer& nodes_of_task(const job& j, int task) {
    return j.rt->threads[static_cast<std::size_t>(task)].nodes[Stage::ordinal];
  }
  /// The nodes of all tasks, joined. `spare` has room for one.
  static node_list nodes_of_tasks(const job& j, buffer& spare) {
    node_list list(spare.data(), Stage::node_bytes);
    for (int t = 0; t < j.tasks; ++t) {
      const node_list part = node_list::of_range(j.first_leaf() + begin_of(j, t), j.first_leaf() + begin_of(j, t + 1));
      nodes::append(*j.f, list, part, j.lent ? j.lent : nodes_of_task(j, t).data());
    }
    return list;
  }

  /// The placement that is nested in this one, or -1.
  static constexpr int child = [] {
    for (int q = 0; q < C::placements.count; ++q)
      if (C::placements.parent[q] == Stage::p) return q;
    return -1;
  }();
  /// The first leaf of a task: tasks have even shares of the members or, if another placement is nested in theirs, of
  /// the nested members.
  static std::int64_t begin_of(const job& j, int task) {
    if constexpr (child < 0) {
      return j.leaves() * task / j.tasks;
    } else {
      return j.rt->shares[static_cast<std::size_t>(task)];
    }
  }
  static void share_out(const job& j) {
    if constexpr (child >= 0) {
      const membership& m = *j.members;
      const std::int64_t* offsets = j.f->members[child].offsets;
      const auto weight = [&](std::int64_t member) {
        const std::int64_t s = m.storage ? m.storage[member] : member;
        return offsets[s + 1] - offsets[s] + 1;
      };
      std::int64_t total = 0, before = 0;
      for (std::int64_t i = 0; i < m.local; ++i) total += weight(i);
      j.rt->shares.assign(static_cast<std::size_t>(j.tasks) + 1, j.leaves());
      j.rt->shares[0] = 0;
      int task = 1;
      for (std::int64_t i = 0; i < m.local && task < j.tasks; ++i) {
        before += weight(i);
        while (task < j.tasks && before * j.tasks >= total * task)
          j.rt->shares[static_cast<std::size_t>(task++)] = ranks::tree_leaf_at(i + 1, j.unit);
      }
    }
  }
};

}  // namespace drx::run
