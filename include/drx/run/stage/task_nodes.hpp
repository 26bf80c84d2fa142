// drx/run/stage/task_nodes.hpp: nodes as a task has them: of large tables to which blocks scatter a few rows each, the
// other rows are not written.
// Tested by tests/unit/run/scattered_sums.cpp.
#pragma once

#include <drx/run/stage/block_sums.hpp>
#include <drx/run/stage/nodes.hpp>

#include <utility>

namespace drx::run {

/// `Stage`: the facts of a stage. Behind a node's results lie bits, one for each piece of its tables (written_pieces).
/// Before nodes leave their process, `fill` writes the other pieces, zeros.
template <class Stage>
struct task_nodes {
  using C = typename Stage::code;
  using nodes = stage_nodes<Stage>;
  using sums = sums_of_block<Stage>;

  /// Whether result I is a table. (Smaller blocks scatter to fewer rows than the largest ones.)
  template <int I>
  static constexpr bool is_table = [] {
    if constexpr (!Stage::has_blocks || Stage::has_monoid)
      return false;
    else if constexpr (!sums::template is_scattered<1>(I))
      return false;
    else
      return !sums::template scatters<1, I>::is_added_whole;
  }();
  template <int I>
  using pieces = typename sums::template scatters<1, I>::pieces_of_array;
  template <int I>
  static constexpr std::int64_t bytes_of_bits_of = [] {
    if constexpr (is_table<I>)
      return pieces<I>::bytes_of_bits;
    else
      return std::int64_t{0};
  }();
  /// The bytes of the bits of the tables before result i.
  static constexpr std::int64_t bytes_before(int i) {
    return [i]<int... I>(std::integer_sequence<int, I...>) {
      return (std::int64_t{0} + ... + (I < i ? bytes_of_bits_of<I> : 0));
    }(std::make_integer_sequence<int, Stage::results>{});
  }
  static constexpr std::int64_t bytes_of_bits = bytes_before(Stage::results);

  /// Table I of a node.
  template <int I>
  static pieces<I> table_of(std::byte* node) {
    using T = element_of<C, C::result(Stage::entry, I)>;
    return {reinterpret_cast<T*>(node + Stage::offset(I)),
            reinterpret_cast<typename pieces<I>::word*>(node + Stage::node_bytes + bytes_before(I))};
  }
  /// Adds the node on the right to the one on the left.
  static void join(frame& f, std::byte* left, const std::byte* right) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (is_table<I>)
        table_of<I>(left).add(table_of<I>(const_cast<std::byte*>(right)));
      else
        nodes::template combine_result<I>(f, left, right);
    });
  }
  /// Makes a whole node.
  static void fill(std::byte* node) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) { fill_result<I>(node); });
  }
  /// Makes all of result I, before it is added to.
  template <int I>
  static void fill_result(std::byte* node) {
    if constexpr (is_table<I>) table_of<I>(node).fill();
  }
  /// Notes that all of result I is written.
  template <int I>
  static void note_all(std::byte* node) {
    if constexpr (is_table<I>) table_of<I>(node).note_all();
  }
  static constexpr node_facts facts = [] {
    node_facts n = nodes::facts;
    if constexpr (bytes_of_bits > 0) {
      n.bytes_of_bits = bytes_of_bits;
      n.join = join;
      n.fill = fill;
    }
    return n;
  }();
};

}  // namespace drx::run
