// drx/run/stage/node_facts.hpp: what a stage's nodes are made of, in a table, so that the code that sends, splits and
// finishes nodes is compiled once for all stages.
// Tested by tests/mpi/reductions.cpp and tests/mpi/large_results.cpp.
#pragma once

#include <drx/run/data/node_list.hpp>
#include <drx/run/data/table.hpp>
#include <drx/run/kernels/fold_operations.hpp>
#include <drx/run/packs/inlining.hpp>
#include <drx/run/stage/facts.hpp>

#include <cstring>
#include <optional>
#include <type_traits>

namespace drx::run {

/// A folded result, and its place in a node.
struct node_result {
  fold how = fold::sum;
  dtype type{};
  std::int64_t offset = 0, bytes = 0, elements = 0;
  plan::location where;  // of the stage's result
};
class nodes_of_ranks;

/// The nodes of a stage.
struct node_facts {
  std::size_t stage = 0;  // its number among the program's stages
  std::int64_t bytes = 0;
  std::int64_t members_of_leaf = 1;  // of the tree, where members go in blocks
  bool has_monoid = false;
  table<node_result> results;
  plan::location of_member;  // where a member has the first of these results, before it is in a node
  /// Adds the node on the right to the one on the left.
  void (*combine)(frame& f, std::byte* left, const std::byte* right) = nullptr;
  /// The same for a task's nodes, behind which lie the bits of written pieces; fill writes the others' zeros, or is
  /// null if there are no such bits (run/stage/task_nodes.hpp).
  std::int64_t bytes_of_bits = 0;
  void (*join)(frame& f, std::byte* left, const std::byte* right) = nullptr;
  void (*fill)(std::byte* node) = nullptr;
  /// Writes the results of no members: zeros, a monoid's identity.
  void (*neutral)(frame& f, std::byte* to) = nullptr;
  /// Folds large nodes in pieces, one for each rank; null where nodes are small or cannot be split.
  void (*split)(const node_facts& facts, frame& f, const nodes_of_ranks& nodes, const node_list& own,
                const std::byte* lent, std::int64_t members) = nullptr;

  /// Whether a member's only result is its node, which a rank with one member need not copy.
  [[nodiscard]] constexpr bool lends() const {
    return split != nullptr && results.size() == 1 && results[0].bytes == bytes;
  }
  /// The type of all results, if they are sums of floats or doubles, which MPI can add by itself.
  [[nodiscard]] std::optional<dtype> summed_type() const {
    for (const node_result& r : results) {
      if ((r.how != fold::sum && r.how != fold::mean) || !is_floating(r.type) || is_half_type(r.type)) return {};
      if (r.type != results[0].type) return {};
    }
    return results[0].type;
  }
};

/// Combines nodes of a stage, as node_list expects it.
class node_joiner {
 public:
  node_joiner(frame& f, const node_facts& facts) : f_(f), combine_(facts.combine) {}
  /// For nodes of tasks.
  static node_joiner of_tasks(frame& f, const node_facts& facts) { return {f, facts.join}; }
  void operator()(std::byte* left, const std::byte* right) const { combine_(f_, left, right); }

 private:
  node_joiner(frame& f, void (*combine)(frame&, std::byte*, const std::byte*)) : f_(f), combine_(combine) {}
  frame& f_;
  void (*combine_)(frame&, std::byte*, const std::byte*);
};

/// Writes the fold of n elements of type T on the left and on the right to `to`, which may be one of them.
template <class T>
void fold_elements(fold how, T* to, const T* left, const T* right, std::int64_t n) {
  const auto each = [&](auto operation) {
    DRX_INDEPENDENT_STEPS
    for (std::int64_t i = 0; i < n; ++i) to[i] = operation(left[i], right[i]);
  };
  if constexpr (!is_half<T>) {
    if (how == fold::max) return each(detail::max_op{});
    if (how == fold::min) return each(detail::min_op{});
  }
  each(detail::add_op{});
}
inline void fold_elements(fold how, dtype type, std::byte* to, const std::byte* left, const std::byte* right,
                          std::int64_t n) {
  visit_element(type, [&]<class T>(T) {
    fold_elements(how, reinterpret_cast<T*>(to), reinterpret_cast<const T*>(left), reinterpret_cast<const T*>(right),
                  n);
  });
}

/// Divides elements of a result by the number of members if it is a mean.
inline void divide_mean(const node_result& r, std::byte* at, std::int64_t elements, std::int64_t members) {
  if (r.how != fold::mean || members == 0) return;
  visit_dtype(r.type, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      T* y = reinterpret_cast<T*>(at);
      const T count = static_cast<T>(members);
      for (std::int64_t i = 0; i < elements; ++i) y[i] /= count;
    }
  });
}
/// Writes the root of a stage's tree to the results' places; means are divided.
inline void finish_node(const node_facts& facts, const frame& f, const std::byte* from, std::int64_t members) {
  for (const node_result& r : facts.results) {
    std::byte* const to = address_at(f, r.where);
    std::memcpy(to, from + r.offset, static_cast<std::size_t>(r.bytes));
    divide_mean(r, to, r.elements, members);
  }
}
/// The root of a list whose nodes are joined; of no members in `spare`.
inline std::byte* root_of(const node_facts& facts, frame& f, node_list& list, std::byte* spare) {
  list.finish(node_joiner(f, facts));
  if (list.size() > 0) return list.data(0);
  facts.neutral(f, spare);
  return spare;
}
/// Appends the nodes of `part`, which lie one after the other in `data`, to a list.
inline void append_nodes(const node_facts& facts, frame& f, node_list& list, const node_list& part, std::byte* data) {
  for (int i = 0; i < part.size(); ++i) list.push(part.at(i), data + i * facts.bytes, node_joiner(f, facts));
}

}  // namespace drx::run
