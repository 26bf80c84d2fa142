// drx/run/stage/top.hpp: a stage over members that are dealt out to ranks: each thread goes through its share of them,
// then the ranks exchange their nodes and results.
// Tested by tests/unit/run/executor_threads.cpp and tests/mpi/reductions.cpp.
#pragma once

#include <drx/core/sentence.hpp>
#include <drx/run/stage/exchange.hpp>
#include <drx/run/stage/leaves.hpp>
#include <drx/run/stage/ranks.hpp>

#include <algorithm>
#include <stdexcept>

namespace drx::run {

/// The facts about a stage whose placement is nested in no other.
struct top_stage_facts {
  const node_facts& nodes;
  const exchange_facts& exchanged;
  const frame_sizes& frames;
  int placement = 0, child = -1;  // its number; that of the placement that is nested in it, or -1
  bool has_nested = false;        // whether there is a stage over members of these members
  std::int64_t group_bytes = 0;   // of a group's shares
  /// Runs a task's leaves on a frame of its thread, and adds them to the list.
  void (*run_leaves)(frame& f, const frame& owner, node_list& list, const struct leaf_range& leaves) = nullptr;
  /// Runs one member, which is the rank's only one; its results stay where they were computed.
  void (*run_only)(frame& f, std::int64_t stored, std::int64_t number) = nullptr;
};
/// Some tree leaves of a rank's members.
struct leaf_range {
  const membership& members;
  std::int64_t unit, first_leaf;  // members of a tree leaf; the number of the rank's first one
  std::int64_t begin, end;
  std::byte* room;  // for a group's shares
};

/// The number of members in a tree leaf of a stage, `most` if there are many of them: members at the top go in blocks
/// if there are many. This depends on the members only, so that the tree is the same on any number of ranks (drx::place
/// cuts between blocks).
inline std::int64_t members_of_tree_leaf(const membership& m, int ranks, std::int64_t most) {
  if (most == 1 || m.chosen) return 1;  // (a rank without members of a subset has no list of places)
  const std::int64_t unit = std::min(most, members_in_block(m.total));
  for (int r = 1; r < ranks; ++r)
    if (m.boundaries[r] % unit != 0 && m.boundaries[r] != m.total)
      throw std::invalid_argument(error::sentence({"drx: a block of members ends at ", m.boundaries[r], "; of ",
                                                   m.total, " members, blocks end at multiples of ", unit}));
  return unit;
}

namespace detail {

/// The work of a rank in a stage: its members, in tree leaves that are dealt out to tasks.
class top_run {
 public:
  top_run(const top_stage_facts& facts, frame& f)
      : facts_(facts), f_(f), rt_(*static_cast<runtime*>(f.runtime)), m_(f.members[facts.placement]), unit_(unit()) {}

  void run() {
    f_.thread = rt_.threads[0].workspace.data();  // workspace for combining
    if (rt_.engine) return run_for_engine();
    run_tasks();
    const exchange_facts& exchanged = facts_.exchanged;
    if (exchanged.gather) exchanged.gather(exchanged, f_, m_);
    if (exchanged.shards) exchanged.shards(exchanged, f_, m_);
    if (exchanged.members) exchanged.members(exchanged, f_, *rt_.communicator, m_.boundaries, 0);
    if (facts_.nodes.bytes == 0) return;
    buffer& spare = room_for_none();
    node_list list = nodes_of_tasks(spare);
    fill(list, rt_.communicator->size() == 1);
    fold_ranks(facts_.nodes, f_, m_, unit_, list, spare.data(), lent_);
  }

 private:
  /// The root of the tree, if the engine has it; else this process's nodes go to the engine, which ends the call.
  void run_for_engine() {
    if (const std::byte* const root = rt_.engine->root(facts_.nodes))
      return finish_node(facts_.nodes, f_, root, m_.total);
    run_tasks();
    node_list list = nodes_of_tasks(room_for_none());
    fill(list, false);
    rt_.engine->take(facts_.nodes, f_, list);
  }
  /// Memory for the results of no members.
  [[nodiscard]] buffer& room_for_none() const {
    buffer& spare = rt_.threads[0].nodes[facts_.nodes.stage];
    spare.grow(static_cast<std::size_t>(facts_.nodes.bytes));
    return spare;
  }
  [[nodiscard]] std::int64_t unit() const {
    return members_of_tree_leaf(m_, rt_.communicator->size(), facts_.nodes.members_of_leaf);
  }
  [[nodiscard]] std::int64_t leaves() const { return (m_.local + unit_ - 1) / unit_; }
  [[nodiscard]] std::int64_t first_leaf() const { return m_.first / unit_; }
  [[nodiscard]] std::int64_t stored(std::int64_t member) const { return m_.storage ? m_.storage[member] : member; }

  void run_tasks() {
    const int threads = rt_.executor->concurrency();
    tasks_ = static_cast<int>(std::min<std::int64_t>(leaves(), threads));
    const bool few = facts_.has_nested && leaves() < threads;  // and perhaps large: threads go inside
    if (few) tasks_ = std::min(tasks_, 1);
    lends_ = m_.local == 1 && rt_.communicator->size() > 1 && facts_.nodes.lends() &&
             nodes_of_ranks(facts_.nodes, rt_, m_, unit_).are_split();
    for (int t = 0; t < tasks_; ++t)
      nodes_of_task(t).grow(bytes_of_nodes() + static_cast<std::size_t>(facts_.group_bytes));
    share_out();
    f_.alone = tasks_ == 1;
    if (f_.alone)
      run_task(0);
    else
      rt_.run(tasks_, run_task, this);
    f_.alone = true;
  }
  static void run_task(void* context, int task) { static_cast<top_run*>(context)->run_task(task); }
  void run_task(int task) {
    frame f = frame_of_thread(f_, task, facts_.frames);
    if (lends_) {
      facts_.run_only(f, stored(0), m_.first);
      lent_ = address_at(f, facts_.nodes.of_member);
      return;
    }
    node_list list(nodes_of_task(task).data(), bytes_of_node());
    facts_.run_leaves(
        f, f_, list,
        {m_, unit_, first_leaf(), begin_of(task), begin_of(task + 1), nodes_of_task(task).data() + bytes_of_nodes()});
  }
  [[nodiscard]] std::int64_t bytes_of_node() const { return facts_.nodes.bytes + facts_.nodes.bytes_of_bits; }
  /// The bytes of a task's nodes; room for a group's shares lies behind them.
  [[nodiscard]] std::size_t bytes_of_nodes() const {
    return (node_list::capacity(m_.local) + 1) * static_cast<std::size_t>(bytes_of_node());
  }
  /// The memory for a task's nodes.
  [[nodiscard]] buffer& nodes_of_task(int task) const {
    return rt_.threads[static_cast<std::size_t>(task)].nodes[facts_.nodes.stage];
  }
  /// The nodes of all tasks, joined. `spare` has room for one.
  [[nodiscard]] node_list nodes_of_tasks(buffer& spare) const {
    node_list list(spare.data(), facts_.nodes.bytes);
    for (int t = 0; t < tasks_; ++t) {
      const node_list part = node_list::of_range(first_leaf() + begin_of(t), first_leaf() + begin_of(t + 1));
      for (int i = 0; i < part.size(); ++i)
        list.push(part.at(i), lent_ ? lent_ : nodes_of_task(t).data() + i * bytes_of_node(),
                  node_joiner::of_tasks(f_, facts_.nodes));
    }
    return list;
  }
  /// Makes whole nodes of the tasks', joined first if they are all there are.
  void fill(node_list& list, bool are_all) const {
    if (!facts_.nodes.fill || lent_) return;
    if (are_all) list.finish(node_joiner::of_tasks(f_, facts_.nodes));
    for (int i = 0; i < list.size(); ++i) facts_.nodes.fill(list.data(i));
  }
  /// The first leaf of a task: tasks have even shares of the members or, if another placement is nested in theirs, of
  /// the nested members.
  [[nodiscard]] std::int64_t begin_of(int task) const {
    return facts_.child < 0 ? leaves() * task / tasks_ : rt_.shares[static_cast<std::size_t>(task)];
  }
  void share_out() {
    if (facts_.child < 0) return;
    const std::int64_t* offsets = f_.members[facts_.child].offsets;
    const auto weight = [&](std::int64_t member) {
      const std::int64_t s = stored(member);
      return offsets[s + 1] - offsets[s] + 1;
    };
    std::int64_t total = 0, before = 0;
    for (std::int64_t i = 0; i < m_.local; ++i) total += weight(i);
    rt_.shares.assign(static_cast<std::size_t>(tasks_) + 1, leaves());
    rt_.shares[0] = 0;
    int task = 1;
    for (std::int64_t i = 0; i < m_.local && task < tasks_; ++i) {
      before += weight(i);
      while (task < tasks_ && before * tasks_ >= total * task)
        rt_.shares[static_cast<std::size_t>(task++)] = tree_leaf_at(i + 1, unit_);
    }
  }

  const top_stage_facts& facts_;
  frame& f_;
  runtime& rt_;
  const membership& m_;
  std::int64_t unit_;  // members of a tree leaf
  int tasks_ = 0;
  bool lends_ = false;         // whether the only member's result stays where it was computed
  std::byte* lent_ = nullptr;  // and where that is
};

}  // namespace detail

/// `Stage`: the facts of a stage whose placement is nested in no other.
template <class Stage>
struct top_stage {
  using C = typename Stage::code;

  static void run(frame& f) {
    require_gathered(facts.exchanged, f.members[Stage::p].total);
    detail::top_run(facts, f).run();
  }
  /// The stage's nodes, for others that join them: an engine's worker, a device.
  static constexpr const node_facts& nodes_of_stage() { return nodes; }

 private:
  static void run_leaves(frame& f, const frame& owner, node_list& list, const leaf_range& leaves) {
    frame other = f;
    if constexpr (Stage::ahead > 0) other = second_frame(owner, f, frame_sizes_of<C>);
    two_frames frames{{{&f}, {&other}}};
    const membership& m = leaves.members;
    const std::int64_t last = std::min(leaves.end * leaves.unit, m.local);
    if constexpr (Stage::group > 0)
      if (leaves.unit == 1) {
        const std::int64_t* storage = m.storage ? m.storage + leaves.begin : nullptr;
        return stage_tree_leaves<Stage>::push_groups(
            f, list, leaves.first_leaf + leaves.begin,
            {leaves.begin, leaves.begin, m.first + leaves.begin, last - leaves.begin}, storage, leaves.room);
      }
    for (std::int64_t l = leaves.begin; l < leaves.end; ++l) {
      const std::int64_t member = l * leaves.unit, count = std::min(leaves.unit, m.local - member);
      stage_tree_leaves<Stage>::push_tree_leaf(
          f, frames, list, leaves.first_leaf + l,
          {m.storage ? m.storage[member] : member, member, m.first + member, count, last - member - count},
          leaves.room);
    }
  }
  static void run_only(frame& f, std::int64_t stored, std::int64_t number) {
    stage_members<Stage>::template run_body<0>(f, stored, 0, number);
  }
  static constexpr node_facts nodes = [] {
    node_facts n = task_nodes<Stage>::facts;
    if (split_reduction::is_possible(n)) n.split = split_over_ranks;
    return n;
  }();
  static constexpr top_stage_facts make() {
    static_assert(Stage::group == 0 || !nodes.lends(), "a result that a node lends is of one member");
    top_stage_facts t{nodes, exchange_facts_of<Stage>::value, frame_sizes_of<C>};
    t.placement = Stage::p;
    for (int q = 0; q < C::placements.count; ++q)
      if (C::placements.parent[q] == Stage::p && t.child < 0) t.child = q;
    for (int e = 0; e < C::sizes.entries; ++e)
      if (C::tape.entries[e].prim == &prim::stage)
        t.has_nested =
            t.has_nested || C::placements.parent[C::placements.index(C::tape.entries[e].placement)] == Stage::p;
    t.group_bytes = Stage::group_bytes;
    t.run_leaves = run_leaves;
    if constexpr (nodes.lends()) t.run_only = run_only;
    return t;
  }
  static constexpr top_stage_facts facts = make();
};

}  // namespace drx::run
