// drx/run/stage/nested.hpp: a stage inside a member of another stage, over the members of that member.
// Tested by tests/unit/run/executor_placements.cpp and tests/mpi/reductions.cpp.
#pragma once

#include <drx/run/stage/exchange.hpp>
#include <drx/run/stage/leaves.hpp>

namespace drx::run {

/// `Stage`: the facts of a stage whose placement is nested in another. A rank has all members of each of its members.
template <class Stage>
struct nested_stage {
  using C = typename Stage::code;
  using nodes = stage_nodes<Stage>;
  using leaves = stage_tree_leaves<Stage>;
  static constexpr const exchange_facts& exchanged = exchange_facts_of<Stage>::value;

  static void run(frame& f) {
    const std::int64_t* at = f.members[Stage::p].offsets + f.at[Stage::parent];
    job j{&f, at[0], at[1] - at[0]};
    require_gathered(exchanged, j.members);
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(Stage::entry, I);
      provide_placed<C, v>(f);
    });
    if (f.alone && !gathers) {
      const std::int64_t threads = runtime_of(f).executor->concurrency();
      j.tasks = static_cast<int>(std::min(j.leaves() / leaves_of_task, threads));
    }
    if (j.tasks > 1) {
      run_tasks(j);
    } else {
      buffer& memory = nodes_of_thread(f, f.thread_number, j.members);
      node_list list(memory.data(), Stage::node_bytes);
      run_leaves(f, list, j, 0, j.leaves(), memory.data() + bytes_of_nodes(j.members));
      if constexpr (Stage::node_bytes > 0) {
        finish_node(nodes::facts, f, root_of(nodes::facts, f, list, memory.data()), j.members);
      }
    }
    exchange_nested(exchanged, f, j.begin, j.members);
  }

 private:
  /// One member's members, in tree leaves that are dealt out to tasks.
  struct job {
    frame* f;
    std::int64_t begin, members;
    int tasks = 1;
    [[nodiscard]] std::int64_t leaves() const {
      return (members + Stage::members_of_leaf - 1) / Stage::members_of_leaf;
    }
    /// The first leaf of a task.
    [[nodiscard]] std::int64_t begin_of(int task) const { return leaves() * task / tasks; }
  };
  static constexpr int leaves_of_task = 4;  // fewer are not worth a copy of the owner's workspace
  static constexpr bool gathers = [] {      // (other threads would write to copies of the workspace)
    for (int i = 0; i < Stage::results; ++i)
      if (Stage::fold_of(i) == fold::gather) return true;
    return false;
  }();
  static runtime& runtime_of(const frame& f) { return *static_cast<runtime*>(f.runtime); }
  /// Memory for a thread's nodes, for that many members.
  static buffer& nodes_of_thread(const frame& f, int thread, std::int64_t members) {
    buffer& memory = runtime_of(f).threads[static_cast<std::size_t>(thread)].nodes[Stage::ordinal];
    memory.grow(bytes_of_nodes(members) + Stage::group_bytes + 1);
    return memory;
  }
  /// The bytes of a thread's nodes; room for a group's shares lies behind them.
  static std::size_t bytes_of_nodes(std::int64_t members) {
    return (node_list::capacity(members) + 1) * static_cast<std::size_t>(Stage::node_bytes);
  }
  static void run_leaves(frame& f, node_list& list, const job& j, std::int64_t first, std::int64_t last,
                         std::byte* room) {
    if constexpr (Stage::group > 0 && Stage::members_of_leaf == 1)
      return leaves::push_groups(f, list, first, {j.begin + first, j.begin + first, first, last - first}, nullptr,
                                 room);
    two_frames none;
    for (std::int64_t l = first; l < last; ++l) {
      const std::int64_t m = l * Stage::members_of_leaf;
      leaves::push_tree_leaf(f, none, list, l,
                             {j.begin + m, j.begin + m, m, std::min(Stage::members_of_leaf, j.members - m)}, room);
    }
  }
  static void run_tasks(job& j) {
    frame& f = *j.f;
    for (int t = 0; t < j.tasks; ++t) nodes_of_thread(f, t, j.members);
    runtime_of(f).run(j.tasks, run_task, &j);
    if constexpr (Stage::node_bytes > 0) {
      node_list list(nullptr, Stage::node_bytes);
      for (int t = 0; t < j.tasks; ++t)
        append_nodes(nodes::facts, f, list, node_list::of_range(j.begin_of(t), j.begin_of(t + 1)),
                     nodes_of_thread(f, t, j.members).data());
      list.finish(node_joiner(f, nodes::facts));
      finish_node(nodes::facts, f, list.data(0), j.members);
    }
  }
  /// Runs a task's leaves on another thread, on a copy of the owner's workspace, which has the values from around the
  /// stage.
  static void run_task(void* context, int task) {
    const job& j = *static_cast<const job*>(context);
    frame f = *j.f;
    if (task != j.f->thread_number) {
      f = frame_of_thread(*j.f, task, frame_sizes_of<C>);
      std::memcpy(f.thread, j.f->thread, static_cast<std::size_t>(C::plan.thread_bytes));
    }
    f.alone = false;
    std::byte* const memory = nodes_of_thread(f, task, j.members).data();
    node_list list(memory, Stage::node_bytes);
    run_leaves(f, list, j, j.begin_of(task), j.begin_of(task + 1), memory + bytes_of_nodes(j.members));
  }
};

}  // namespace drx::run
