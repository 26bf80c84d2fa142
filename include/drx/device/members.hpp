// drx/device/members.hpp: members of a stage by a team: one after the other, each folded at once into the nodes of its
// range of the reduction tree.
// Tested by tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/device/kernel.hpp>
#include <drx/run/stage/members.hpp>

namespace drx::device {

/// Some members in a row: result number `local` of this rank's (or of the outer member's) comes from member `number`
/// of all, whose shares lie at `local`, or at `storage[local]` of a subset.
struct member_range {
  std::int64_t begin = 0, end = 0;  // members here, which are the leaves of the tree, too
  std::int64_t first_local = 0;     // added to a member: where its results lie
  std::int64_t first_number = 0;    // added to a member: its number among all
  std::int64_t first_leaf = 0;      // added to a member: its leaf of the tree
  const std::int64_t* storage = nullptr;
};

/// `Stage`: the facts of a stage (run/stage/facts.hpp). Each member runs through body 0.
template <class Stage>
struct team_members {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;
  using host = run::stage_members<Stage>;

  static constexpr bool stays_on_the_device = [] {
    for (int i = 0; i < Stage::results; ++i)
      if (Stage::fold_of(i) == fold::shards || Stage::fold_of(i) == fold::shard_sum) return false;
    return true;
  }();
  static_assert(stays_on_the_device, "drx: members in shards (with_layout) do not run on devices");

  /// Computes the members of a range. Their nodes, the largest subtrees, lie one after the other from `nodes` on, where
  /// one more node has room.
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f, const member_range& m, std::byte* nodes) {
    for (std::int64_t member = m.begin; member < m.end; ++member) {
      const std::int64_t local = m.first_local + member, stored = m.storage ? m.storage[member] : local;
      std::int64_t number = m.first_number + member;
      host::template enter<0>(f, stored, local, number);
      device::run_region<C, Stage::body>(team, f);
      leave(team, f, stored, local, number);
      const std::int64_t first = m.first_leaf + m.begin, leaf = m.first_leaf + member;
      const std::int64_t before = run::node_list::count_of_range(first, leaf),
                         after = run::node_list::count_of_range(first, leaf + 1);
      if constexpr (Stage::node_bytes > 0) {
        write_node(team, f, nodes + before * Stage::node_bytes);
        team.barrier();
        join(team, f, nodes, before + 1, after);
      } else {
        team.barrier();
      }
    }
  }
  /// Joins the last of `count` nodes from right to left, until `left` are left.
  template <class Team>
  DRX_FN static void join(const Team& team, frame& f, std::byte* nodes, std::int64_t count, std::int64_t left) {
    for (; count > left; --count) {
      std::byte* const on_the_right = nodes + (count - 1) * Stage::node_bytes;
      combine(team, f, on_the_right - Stage::node_bytes, on_the_right);
      team.barrier();
    }
  }
  /// Adds the node on the right to the one on the left.
  template <class Team>
  DRX_FN static void combine(const Team& team, frame& f, std::byte* left, const std::byte* right) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr fold how = Stage::fold_of(I);
      if constexpr (how == fold::monoid) {
        if constexpr (Stage::view().begins_monoid(I)) combine_monoid<I>(team, f, left, right);
      } else if constexpr (Stage::folded(I)) {
        using T = element_of<C, C::result(E, I)>;
        constexpr std::int64_t offset = Stage::offset(I), n = C::values[C::result(E, I)].shape.size();
        T* const to = reinterpret_cast<T*>(left + offset);
        const T* const from = reinterpret_cast<const T*>(right + offset);
        for_each(team, n, [&](std::int64_t i) {
          if constexpr (how == fold::max)
            to[i] = run::detail::max_op{}(to[i], from[i]);
          else if constexpr (how == fold::min)
            to[i] = run::detail::min_op{}(to[i], from[i]);
          else
            to[i] = run::detail::add_op{}(to[i], from[i]);
        });
      }
    });
  }
  /// Writes the results of no members: zeros, a monoid's identity.
  template <class Team>
  DRX_FN static void neutral(const Team& team, frame& f, std::byte* to) {
    fill(team, to, Stage::node_bytes, std::byte{});
    team.barrier();
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr bool begins = Stage::fold_of(I) == fold::monoid && Stage::view().begins_monoid(I);
      if constexpr (begins) {
        constexpr int region = Stage::x.first_region + Stage::view().identity_region(I);
        device::run_region<C, region>(team, f);
        unroll<C::tape.regions[region].outputs.count>([&]<int K>(std::integral_constant<int, K>) {
          constexpr int out = C::output(region, K);
          constexpr std::int64_t offset = Stage::offset(I + K);
          copy_bytes(team, address<C, out>(f), to + offset, bytes_of<C>(out));
        });
        team.barrier();
      }
    });
  }
  /// Writes the root's results where they belong; means are divided.
  template <class Team>
  DRX_FN static void finish(const Team& team, frame& f, const std::byte* root, std::int64_t members) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        constexpr int v = C::result(E, I);
        using T = element_of<C, v>;
        constexpr std::int64_t offset = Stage::offset(I);
        constexpr bool mean = Stage::fold_of(I) == fold::mean && std::is_floating_point_v<T>;
        const T* const from = reinterpret_cast<const T*>(root + offset);
        T* const to = elements<T, C, v>(f);
        for_each(team, C::values[v].shape.size(), [&](std::int64_t i) {
          if constexpr (mean)
            to[i] = members == 0 ? from[i] : from[i] / static_cast<T>(members);
          else
            to[i] = from[i];
        });
      }
    });
  }

 private:
  template <int I, class Team>
  DRX_FN static void combine_monoid(const Team& team, frame& f, std::byte* left, const std::byte* right) {
    constexpr int region = Stage::x.first_region + Stage::view().combine_region(I);
    constexpr int parts = C::tape.regions[region].outputs.count;
    unroll<parts>([&]<int K>(std::integral_constant<int, K>) {
      constexpr std::int64_t offset = Stage::offset(I + K);
      f.slots[slot_of<C>(C::input(region, K))] = left + offset;
      f.slots[slot_of<C>(C::input(region, parts + K))] = const_cast<std::byte*>(right) + offset;
    });
    device::run_region<C, region>(team, f);
    unroll<parts>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int out = C::output(region, K);
      constexpr std::int64_t offset = Stage::offset(I + K);
      copy_bytes(team, address<C, out>(f), left + offset, bytes_of<C>(out));
    });
    team.barrier();  // (the next monoid computes in the same workspace)
  }
  /// Writes the folded results of a member to a node.
  template <class Team>
  DRX_FN static void write_node(const Team& team, const frame& f, std::byte* to) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        constexpr int out = C::output(Stage::body, I);
        constexpr std::int64_t offset = Stage::offset(I);
        copy_bytes(team, address<C, out>(f), to + offset, bytes_of<C>(out));
      }
    });
  }
  /// Writes the results that are not folded where they belong.
  template <class Team>
  DRX_FN static void leave(const Team& team, const frame& f, std::int64_t stored, std::int64_t local,
                           std::int64_t number) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int out = C::output(Stage::body, I), to = C::result(E, I);
      constexpr std::int64_t bytes = bytes_of<C>(out);
      if constexpr (Stage::fold_of(I) == fold::gather) {
        copy_bytes(team, address<C, out>(f), address<C, to>(f) + number * bytes, bytes);
      } else if constexpr (Stage::collected(I)) {
        if constexpr (C::values[out].depth == 0) {
          copy_bytes(team, address<C, out>(f), address<C, to>(f) + local * bytes, bytes);
        } else if constexpr (C::definition(C::root(out)) < 0) {  // an operand that is a result
          const std::int64_t begin = host::template first_element<out>(f, stored),
                             end = host::template first_element<out>(f, stored + 1);
          copy_bytes(team, address<C, out>(f) + begin * bytes, address<C, to>(f) + begin * bytes,
                     (end - begin) * bytes);
        }
      }
    });
  }
};

}  // namespace drx::device
