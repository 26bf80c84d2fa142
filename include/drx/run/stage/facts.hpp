// drx/run/stage/facts.hpp: the facts about a stage: its bodies, how its results are folded, and their places in a node
// of the tree.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/run/data/executor.hpp>
#include <drx/run/stage/overlapped_blocks.hpp>

namespace drx::run {

/// The room that a result of so many bytes has in a node.
constexpr std::int64_t bytes_in_node(std::int64_t bytes) {
  constexpr std::int64_t widest_number = 8;  // bytes, to which each result is aligned
  return (bytes + widest_number - 1) / widest_number * widest_number;
}
/// The facts about the stage that is entry E. Folded results are packed one after the other in a node.
template <class C, int E>
struct stage_facts {
  using code = C;
  static constexpr int entry = E;
  static constexpr auto& x = C::tape.entries[E];
  static constexpr int body = x.first_region;
  static constexpr auto view() { return prim::rules::stage::view(C::attributes(E)); }
  static constexpr int placed = view().placed;
  static constexpr int results = x.results.count;
  static constexpr fold fold_of(int i) { return view().fold_of(i); }
  /// Whether a result is folded; the others are written member by member where they belong.
  static constexpr bool folded(int i) {
    return fold_of(i) != fold::gather && fold_of(i) != fold::shards && !collected(i);
  }
  static constexpr bool collected(int i) {
    return fold_of(i) == fold::collect || fold_of(i) == fold::permute || fold_of(i) == fold::transpose ||
           fold_of(i) == fold::shard_sum;
  }
  static constexpr int block_bodies = view().block_bodies();
  static constexpr bool has_blocks = block_bodies > 0;
  /// The members that a body computes at once.
  template <int Body>
  static constexpr std::int64_t members_of_body = view().members_of_body(Body);
  static constexpr std::int64_t members_of_leaf = view().members_of_leaf();
  static_assert(members_in_block(std::int64_t{1} << 62) ==
                prim::rules::stage::large_leaf);  // (ranks get members in such leaves)
  /// Whether a body computes all members of a tree leaf at once.
  template <int Body>
  static constexpr bool is_body_of_leaf = members_of_body<Body> == members_of_leaf;
  /// The members of a group, 0 if there are none; its body, which takes the place of body 0; the bytes of its members'
  /// numbers, and of these and their shares.
  static constexpr std::int64_t group = view().group();
  static constexpr int group_body = view().group_body();
  static constexpr std::int64_t group_numbers = group * static_cast<std::int64_t>(sizeof(std::int64_t));
  static constexpr std::int64_t group_bytes = [] {
    std::int64_t n = group_numbers;
    for (int i = 0; group > 0 && i < placed; ++i) n += group * C::bytes(C::input(body, 1 + i));
    return n;
  }();
  /// Calls run(the number of a body, as a constant) for the largest block of at most `left` members. Returns how many
  /// members that are; 0 if there is none.
  template <int Bodies = block_bodies, class Run>
  DRX_FN static std::int64_t run_largest_block(std::int64_t left, const Run& run) {
    std::int64_t size = 0;
    unroll<Bodies>([&]<int K>(std::integral_constant<int, K>) {
      if (size > 0 || left < members_of_body<1 + K>) return;
      size = members_of_body<1 + K>;
      run(std::integral_constant<int, 1 + K>{});
    });
    return size;
  }
  static constexpr int p = C::placements.index(x.placement);
  static constexpr int parent = C::placements.parent[p];
  static constexpr int ordinal = [] {
    int n = 0;
    for (int e = 0; e < E; ++e) n += C::tape.entries[e].prim == &prim::stage;
    return n;
  }();

  // The packed node: all folded results one after the other.
  static constexpr std::int64_t packed(int i) { return bytes_in_node(C::bytes(C::result(E, i))); }
  static constexpr std::int64_t offset(int i) {
    std::int64_t n = 0;
    for (int k = 0; k < i; ++k) n += folded(k) ? packed(k) : 0;
    return n;
  }
  static constexpr std::int64_t node_bytes = offset(results);
  static constexpr bool has_monoid = [] {
    for (int i = 0; i < results; ++i)
      if (fold_of(i) == fold::monoid) return true;
    return false;
  }();

  static constexpr int ahead = steps_ahead<C>(E);
  static constexpr int turns = ahead == 0 ? 1 : turns_of_block<C>(E);
};

}  // namespace drx::run
