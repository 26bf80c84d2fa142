// drx/run/stage/groups.hpp: members that fill no block, side by side: a group of them is computed at once, and its
// results are folded member by member.
// Tested by tests/unit/run/groups.cpp and tests/mpi/groups.cpp.
#pragma once

#include <drx/run/stage/members.hpp>

#include <algorithm>
#include <cstring>

namespace drx::run {

/// `Stage`: the facts of a stage whose members may come in groups. A member's place in its group depends on its number
/// only, so that its results are the same, to the last bit, on any number of ranks. A place of no member is a copy of a
/// neighbour, with its number and shares; nobody reads its results.
template <class Stage>
struct stage_groups {
  using C = typename Stage::code;
  using members = stage_members<Stage>;
  using nodes = stage_nodes<Stage>;
  static constexpr int E = Stage::entry, body = Stage::group_body, region = Stage::body + body;
  static constexpr std::int64_t size = Stage::group;
  static_assert(!Stage::has_monoid, "a monoid is of one member");

  /// Where the members that are computed next are: the first one's number, how many there are, its result's number
  /// here, and where its shares lie: in the order of the members, unless `storage` says where each one's do.
  struct run_of_members {
    std::int64_t number, count, local, stored;
    const std::int64_t* storage = nullptr;
    [[nodiscard]] std::int64_t stored_at(std::int64_t i) const { return storage ? storage[i] : stored + i; }
  };
  /// How many members from `number` on are in its group, `left` at most.
  static std::int64_t count_from(std::int64_t number, std::int64_t left) {
    return std::min(left, size - number % size);
  }
  /// Computes the members of a group, and writes the results that are not folded where they belong. The folded ones are
  /// read by write_node and add_to_node. `room` has Stage::group_bytes.
  static void run(frame& f, const run_of_members& m, std::byte* room) {
    const std::int64_t first = m.number % size;
    auto* const numbers = reinterpret_cast<std::int64_t*>(room);  // (results may be read where these lie)
    for (std::int64_t place = 0; place < size; ++place) numbers[place] = m.number + member_at(m, place);
    members::template enter<body>(f, m.stored, m.local, numbers[0]);
    if (m.count < size || m.storage) copy_shares(f, m, room + Stage::group_numbers);
    run_region<C, region>(f);
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (!Stage::folded(I))
        for (std::int64_t i = 0; i < m.count; ++i)
          std::memcpy(members::template place_of<I>(f, m.local + i, m.number + i), result<I>(f, first + i),
                      static_cast<std::size_t>(bytes_of<I>));
    });
  }
  /// Writes the folded results of member `number` of the group that was computed last to a node.
  static void write_node(const frame& f, std::int64_t number, std::byte* to) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        std::memcpy(to + Stage::offset(I), result<I>(f, number % size), static_cast<std::size_t>(bytes_of<I>));
        task_nodes<Stage>::template note_all<I>(to);
      }
    });
  }
  /// Adds them to a node.
  static void add_to_node(const frame& f, std::int64_t number, std::byte* node) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I)) {
        task_nodes<Stage>::template fill_result<I>(node);
        nodes::template fold_elements<I>(node + Stage::offset(I), node + Stage::offset(I), result<I>(f, number % size),
                                         C::values[C::result(E, I)].shape.size());
      }
    });
  }

 private:
  template <int I>
  static constexpr std::int64_t bytes_of = C::bytes(C::output(Stage::body, I));
  /// Result I of the member at place `at` of the group.
  template <int I>
  static const std::byte* result(const frame& f, std::int64_t at) {
    return address<C, C::output(region, I)>(f) + at * bytes_of<I>;
  }
  /// Which of m's members is at a place of the group, or its nearest neighbour.
  static std::int64_t member_at(const run_of_members& m, std::int64_t place) {
    return std::clamp<std::int64_t>(place - m.number % size, 0, m.count - 1);
  }
  /// Copies the members' shares to their places in the room, and points the body's inputs there.
  static void copy_shares(frame& f, const run_of_members& m, std::byte* room) {
    unroll<Stage::placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int from = C::operand(E, I), to = C::input(region, 1 + I);
      constexpr std::int64_t bytes = C::bytes(C::input(Stage::body, 1 + I));
      const std::byte* const all = address<C, from>(f);
      for (std::int64_t place = 0; place < size; ++place) {
        const std::int64_t i = member_at(m, place);
        const std::int64_t at = is_program_input<C>(from) ? m.stored_at(i) : m.local + i;
        std::memcpy(room + place * bytes, all + at * bytes, static_cast<std::size_t>(bytes));
      }
      f.slots[slot_of<C, to>] = room;
      room += size * bytes;
    });
  }
};

}  // namespace drx::run
