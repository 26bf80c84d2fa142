// drx/device/members.hpp: members of a stage by a team: one after the other, each folded at once into the nodes of its
// range of the reduction tree.
// Tested by tests/unit/device/placements_threads.cpp.
#pragma once

#include <drx/device/kernel.hpp>
#include <drx/run/stage/members.hpp>

#include <string_view>

namespace drx::device {

/// Some members in a row, in leaves of the tree of `unit` members each; the last one may have fewer. Member m has the
/// number first_number + m among all. Its shares and results lie at first_local + m; of a subset, shares at storage[m].
struct member_range {
  std::int64_t begin = 0, end = 0;   // leaves
  std::int64_t unit = 1, count = 0;  // members of a leaf; members here
  std::int64_t first_local = 0, first_number = 0;
  const std::int64_t* storage = nullptr;
  /// The number of leaf l in the tree.
  [[nodiscard]] DRX_FN constexpr std::int64_t leaf(std::int64_t l) const { return first_number / unit + l; }
};

/// `Stage`: the facts of a stage (run/stage/facts.hpp). Members run through body 0 one by one, or through another body
/// as a block.
template <class Stage>
struct team_members {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;
  using host = run::stage_members<Stage>;

  /// Whether blocks of members run here: not those whose members lie in the lanes of vectors, which GPUs do not have.
  static constexpr bool has_blocks = [] {
    if constexpr (Stage::has_blocks && !Stage::has_monoid) {
      bool in_block[C::sizes.regions + 1] = {};  // regions come after those that contain them
      in_block[Stage::body + 1] = true;
      for (int r = Stage::body + 1; r < C::sizes.regions; ++r)
        for (int k = 0; in_block[r] && k < C::tape.regions[r].entries; ++k) {
          const auto& e = C::tape.entries[C::tape.regions[r].first_entry + k];
          if (std::string_view(e.prim->name).starts_with("lane_")) return false;
          for (int i = 0; i < e.regions; ++i) in_block[e.first_region + i] = true;
        }
      return true;
    } else {
      return false;
    }
  }();

  /// Computes the leaves of a range. Their nodes, the largest subtrees, lie one after the other from `nodes` on, where
  /// one more node has room.
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f, const member_range& m, std::byte* nodes) {
    for (std::int64_t l = m.begin; l < m.end; ++l) {
      const std::int64_t before = run::node_list::count_of_range(m.leaf(m.begin), m.leaf(l)),
                         after = run::node_list::count_of_range(m.leaf(m.begin), m.leaf(l + 1));
      run_leaf(team, f, m, l, nodes + before * Stage::node_bytes);
      if constexpr (Stage::node_bytes > 0) join(team, f, nodes, before + 1, after);
    }
  }
  /// Computes the members of leaf l, in the largest blocks that fit, and writes their node.
  template <class Team>
  DRX_FN static void run_leaf(const Team& team, frame& f, const member_range& m, std::int64_t l, std::byte* node) {
    const std::int64_t first = l * m.unit, end = first + m.unit < m.count ? first + m.unit : m.count;
    for (std::int64_t member = first; member < end;) {
      const auto run = [&]<int Body>(std::integral_constant<int, Body>) {
        run_body<Body>(team, f, m, member, node, member > first);
      };
      const std::int64_t block =
          Stage::template run_largest_block<has_blocks ? Stage::block_bodies : 0>(end - member, run);
      if (block == 0) run(std::integral_constant<int, 0>{});
      member += block > 0 ? block : 1;
    }
  }
  /// Computes the members of body Body from `member` on. Their results are written to the node or added to it.
  template <int Body, class Team>
  DRX_FN static void run_body(const Team& team, frame& f, const member_range& m, std::int64_t member, std::byte* node,
                              bool add) {
    const std::int64_t local = m.first_local + member, stored = m.storage ? m.storage[member] : local;
    std::int64_t number = m.first_number + member;
    host::template enter<Body>(f, stored, local, number);
    device::run_region<C, Stage::body + Body>(team, f);
    leave<Body>(team, f, stored, local, number);
    if constexpr (Stage::node_bytes > 0) {
      if (!add)
        write_node<Body>(team, f, node);
      else if constexpr (has_blocks)
        add_to_node<Body>(team, f, node);
    }
    team.barrier();
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
  /// Folds the node on the right into the one on the left.
  template <class Team>
  DRX_FN static void combine(const Team& team, frame& f, std::byte* left, const std::byte* right) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr fold how = Stage::fold_of(I);
      if constexpr (how == fold::monoid) {
        if constexpr (Stage::view().begins_monoid(I)) combine_monoid<I>(team, f, left, right);
      } else if constexpr (Stage::folded(I)) {
        using T = element_of<C, C::result(E, I)>;
        constexpr std::int64_t offset = Stage::offset(I);
        fold_elements<I>(team, reinterpret_cast<T*>(left + offset), reinterpret_cast<const T*>(right + offset));
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
          copy_bytes(team, address<C, out>(f), to + offset, bytes_of<C, out>);
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
  /// Folds the elements of result I on the right into those on the left.
  template <int I, class Team, class T>
  DRX_FN static void fold_elements(const Team& team, T* left, const T* right) {
    constexpr fold how = Stage::fold_of(I);
    for_each(team, C::values[C::result(E, I)].shape.size(), [&](std::int64_t i) {
      if constexpr (how == fold::max)
        left[i] = run::detail::max_op{}(left[i], right[i]);
      else if constexpr (how == fold::min)
        left[i] = run::detail::min_op{}(left[i], right[i]);
      else
        left[i] = run::detail::add_op{}(left[i], right[i]);
    });
  }
  template <int I, class Team>
  DRX_FN static void combine_monoid(const Team& team, frame& f, std::byte* left, const std::byte* right) {
    constexpr int region = Stage::x.first_region + Stage::view().combine_region(I);
    constexpr int parts = C::tape.regions[region].outputs.count;
    unroll<parts>([&]<int K>(std::integral_constant<int, K>) {
      constexpr std::int64_t offset = Stage::offset(I + K);
      f.slots[slot_of<C, C::input(region, K)>] = left + offset;
      f.slots[slot_of<C, C::input(region, parts + K)>] = const_cast<std::byte*>(right) + offset;
    });
    device::run_region<C, region>(team, f);
    unroll<parts>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int out = C::output(region, K);
      constexpr std::int64_t offset = Stage::offset(I + K);
      copy_bytes(team, address<C, out>(f), left + offset, bytes_of<C, out>);
    });
    team.barrier();  // (the next monoid computes in the same workspace)
  }
  /// Adds the folded results of body Body to a node.
  template <int Body, class Team>
  DRX_FN static void add_to_node(const Team& team, const frame& f, std::byte* to) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        using T = element_of<C, C::result(E, I)>;
        constexpr std::int64_t offset = Stage::offset(I);
        fold_elements<I>(team, reinterpret_cast<T*>(to + offset),
                         elements<const T, C, C::output(Stage::body + Body, I)>(f));
      }
    });
  }
  /// Writes the folded results of body Body to a node.
  template <int Body, class Team>
  DRX_FN static void write_node(const Team& team, const frame& f, std::byte* to) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        constexpr int out = C::output(Stage::body + Body, I);
        constexpr std::int64_t offset = Stage::offset(I);
        copy_bytes(team, address<C, out>(f), to + offset, bytes_of<C, out>);
      }
    });
  }
  /// Writes the results that are not folded where they belong.
  template <int Body, class Team>
  DRX_FN static void leave(const Team& team, const frame& f, std::int64_t stored, std::int64_t local,
                           std::int64_t number) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int out = C::output(Stage::body + Body, I), one = C::output(Stage::body, I), to = C::result(E, I);
      constexpr std::int64_t bytes = bytes_of<C, out>, of_one = bytes_of<C, one>;
      if constexpr (host::template lies_in_result<Body>(I)) {  // nothing to copy
      } else if constexpr (Stage::fold_of(I) == fold::gather) {
        copy_bytes(team, address<C, out>(f), address<C, to>(f) + number * of_one, bytes);
      } else if constexpr (Stage::collected(I)) {
        if constexpr (C::values[out].depth == 0) {
          copy_bytes(team, address<C, out>(f), address<C, to>(f) + local * of_one, bytes);
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
