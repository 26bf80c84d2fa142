// drx/run/stage/leaves.hpp: the leaves of a stage's tree: one member each, or the members of a block; two blocks may be
// at work in turns.
// Tested by tests/unit/run/many_members.cpp and tests/mpi/reductions.cpp.
#pragma once

#include <drx/run/stage/groups.hpp>
#include <drx/run/stage/thread_frames.hpp>

namespace drx::run {

/// `Stage`: the facts of a stage.
template <class Stage>
struct stage_tree_leaves {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;
  using members = stage_members<Stage>;
  using nodes = stage_nodes<Stage>;
  using sums = typename members::sums;

  /// Runs steps First to Last - 1 of the first block body, except its `sums`.
  template <int First, int Last>
  static void run_steps(frame& f) {
    unroll<Last - First>([&]<int K>(std::integral_constant<int, K>) {
      if constexpr (sums::template result_of_step<1>(First + K) < 0)
        run_step<C, C::plan.first_step[Stage::body + 1] + First + K>(f);
    });
  }
  /// One turn of the last of a block's first steps: its part of the dot products, and of the fetches.
  template <int Turn>
  static void run_ahead(frame& f) {
    constexpr int step = C::plan.first_step[Stage::body + 1] + Stage::ahead - 1;
    if (members::from_memory(f)) members::template fetch<1, 2 * Turn, 2 * Stage::turns>(f);
    if constexpr (Stage::turns == 1) {
      run_step<C, step>(f);
    } else {
      using product = kernel<C, C::plan.steps[step].entry, &prim::matmul>;
      constexpr int rows = static_cast<int>(product::extents.dots()) / Stage::turns;
      product::template run_dots<rows>(f, Turn * rows);
    }
    if (members::from_memory(f)) members::template fetch<1, 2 * Turn + 1, 2 * Stage::turns>(f);
  }
  /// The members of a tree leaf.
  struct tree_leaf {
    std::int64_t stored, local, number, count;
    std::int64_t behind = 0;  // of the task, after this leaf
  };
  /// Runs the block that begins `done` members after the leaf's first, and the first steps of the next block. Its
  /// `sums` are written to a node, or added to the numbers there. Returns its frame.
  static frame& run_block_and_ahead(two_frames& frames, const tree_leaf& m, std::int64_t done, std::byte* to,
                                    bool add) {
    constexpr int steps = C::plan.step_count[Stage::body + 1];
    constexpr std::int64_t size = Stage::template members_of_body<1>;
    const auto begin = [&](two_frames::place& at, std::int64_t from) {
      at.number = m.number + from;
      members::template enter<1>(*at.f, m.stored + from, m.local + from, at.number);
      run_steps<0, Stage::ahead - 1>(*at.f);
    };
    two_frames::place &now = frames.now(), &next = frames.next();
    if (!frames.begun) {
      begin(now, done);
      unroll<Stage::turns>([&]<int Turn>(std::integral_constant<int, Turn>) { run_ahead<Turn>(*now.f); });
    }
    run_steps<Stage::ahead, steps>(*now.f);
    const std::int64_t left = m.count - done - size;
    const bool follows = left == 0 ? m.behind >= size : left >= size;
    if (follows) begin(next, done + size);
    unroll<Stage::turns>([&]<int Turn>(std::integral_constant<int, Turn>) {
      if (follows) run_ahead<Turn>(*next.f);
      members::template sum_members<1, Stage::turns>(*now.f, to, add, Turn);
    });
    members::template leave<1>(*now.f, m.stored + done, m.local + done, now.number);
    frames.advance(follows);
    return *now.f;
  }
  /// A tree leaf: one member, or up to `block` of them from left to right, in the largest blocks that fit. If `begun`,
  /// `to` has a node already, to which the leaf is added. `room` is for groups.
  static void run_leaf(frame& f, two_frames& frames, const tree_leaf& m, std::byte* to, std::byte* scratch,
                       std::byte* room, bool begun = false) {
    for (std::int64_t done = 0; done < m.count;) {
      const bool add = begun && !Stage::has_monoid;
      std::byte* const node = begun && Stage::has_monoid ? scratch : to;
      const auto run = [&]<int Body>(std::integral_constant<int, Body>) {
        frame* own = &f;
        std::int64_t number = m.number + done;
        if constexpr (Body == 1 && Stage::ahead > 0) {
          own = &run_block_and_ahead(frames, m, done, node, add);
        } else {
          members::template run_body<Body>(f, m.stored + done, m.local + done, number);
          if constexpr (Body > 0 && Stage::parent < 0) members::template sum_members<Body>(f, node, add);
        }
        if (add)
          members::template combine_outputs<Body>(*own, node);
        else
          members::template write_node<Body>(*own, node);
      };
      std::int64_t computed = Stage::run_largest_block(m.count - done, run);
      if (computed == 0) {
        if constexpr (Stage::group > 0) {
          computed = run_group(f, m, done, to, room, begun);
        } else {
          run(std::integral_constant<int, 0>{});
          computed = 1;
        }
      }
      done += computed;
      if (begun && Stage::has_monoid) nodes::combine(f, to, scratch);
      begun = true;
    }
  }
  /// Runs the group of the member that comes `done` members after the leaf's first, or what the leaf has of it. Returns
  /// how many members that are.
  static std::int64_t run_group(frame& f, const tree_leaf& m, std::int64_t done, std::byte* to, std::byte* room,
                                bool begun) {
    using groups = stage_groups<Stage>;
    const std::int64_t number = m.number + done, count = groups::count_from(number, m.count - done);
    groups::run(f, {number, count, m.local + done, m.stored + done}, room);
    for (std::int64_t i = 0; i < count; ++i)
      if (begun || i > 0)
        groups::add_to_node(f, number + i, to);
      else
        groups::write_node(f, number + i, to);
    return count;
  }
  /// Runs the members from the leaf's first on in groups, and adds them to the list as leaves of one member each.
  static void push_groups(frame& f, node_list& list, std::int64_t leaf, const tree_leaf& m, const std::int64_t* storage,
                          std::byte* room) {
    using groups = stage_groups<Stage>;
    for (std::int64_t done = 0; done < m.count;) {
      const std::int64_t number = m.number + done, count = groups::count_from(number, m.count - done);
      groups::run(f, {number, count, m.local + done, m.stored + done, storage ? storage + done : nullptr}, room);
      for (std::int64_t i = 0; i < count; ++i) {
        groups::write_node(f, number + i, list.next());
        list.push({0, leaf + done + i}, node_joiner::of_tasks(f, task_nodes<Stage>::facts));
      }
      done += count;
    }
  }
  /// Runs a tree leaf and adds it to the list. If a node awaits the leaf and one addition does it, the leaf is added
  /// without being written first. (A block in turns takes several: node + (a + b) is not (node + a) + b.)
  static void push_tree_leaf(frame& f, two_frames& frames, node_list& list, std::int64_t leaf, const tree_leaf& m,
                             std::byte* room) {
    if constexpr (!Stage::has_monoid && Stage::node_bytes > 0)
      if (list.awaits({0, leaf})) {
        bool one_step = m.count == 1;
        unroll<Stage::block_bodies>([&]<int K>(std::integral_constant<int, K>) {
          if constexpr (K > 0 || Stage::turns == 1)
            one_step = one_step || m.count == Stage::template members_of_body<1 + K>;
        });
        if (one_step) {
          run_leaf(f, frames, m, list.data(list.size() - 1), nullptr, room, true);
          list.push_joined(node_joiner::of_tasks(f, task_nodes<Stage>::facts));
          return;
        }
      }
    run_leaf(f, frames, m, list.next(), list.next() + Stage::node_bytes, room);
    list.push({0, leaf}, node_joiner::of_tasks(f, task_nodes<Stage>::facts));
  }
};

}  // namespace drx::run
