// drx/run/stage/nodes.hpp: arithmetic on the nodes of a stage's tree: two neighbours become one, the root becomes the
// stage's results.
// Tested by tests/unit/run/executor_placements.cpp and tests/unit/run/largest_member.cpp.
#pragma once

#include <drx/run/kernels/all.hpp>
#include <drx/run/stage/node_facts.hpp>

#include <cstring>

namespace drx::run {

/// `Stage`: the facts of a stage (facts.hpp). A node has the folded results of some members, packed.
template <class Stage>
struct stage_nodes {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;

  /// Adds the node on the right to the one on the left.
  static void combine(frame& f, std::byte* left, const std::byte* right) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) { combine_result<I>(f, left, right); });
  }
  /// The same for result I, unless another one has done it already.
  template <int I>
  static void combine_result(frame& f, std::byte* left, const std::byte* right) {
    if constexpr (Stage::fold_of(I) == fold::monoid) {
      if constexpr (Stage::view().begins_monoid(I)) combine_monoid<I>(f, left, right);
    } else if constexpr (Stage::folded(I)) {
      fold_elements<I>(left + Stage::offset(I), left + Stage::offset(I), right + Stage::offset(I),
                       C::values[C::result(E, I)].shape.size());
    }
  }
  /// Folds n elements of result I; `to` may be `left`.
  template <int I>
  static void fold_elements(std::byte* to, const std::byte* left, const std::byte* right, std::int64_t n) {
    using T = element_of<C, C::result(E, I)>;
    run::fold_elements(Stage::fold_of(I), reinterpret_cast<T*>(to), reinterpret_cast<const T*>(left),
                       reinterpret_cast<const T*>(right), n);
  }
  template <int I>
  static void combine_monoid(frame& f, std::byte* left, const std::byte* right) {
    constexpr int region = Stage::x.first_region + Stage::view().combine_region(I);
    constexpr int parts = C::tape.regions[region].outputs.count;
    unroll<parts>([&]<int K>(std::integral_constant<int, K>) {
      f.slots[C::plan.where[C::input(region, K)].offset] = left + Stage::offset(I + K);
      f.slots[C::plan.where[C::input(region, parts + K)].offset] = const_cast<std::byte*>(right) + Stage::offset(I + K);
    });
    run_region<C, region>(f);
    unroll<parts>(
        [&]<int K>(std::integral_constant<int, K>) {  // an output that is an input must not be overwritten first
          constexpr int out = C::output(region, K);
          static_assert(C::definition(C::root(out)) >= 0 || parts == 1 || C::root(out) == C::input(region, K),
                        "drx::reduce_with: combine hands parts of its arguments through in another place");
          std::memmove(left + Stage::offset(I + K), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
        });
  }

  /// Writes the results of no members: zeros, a monoid's identity.
  static void neutral(frame& f, std::byte* to) {
    std::memset(to, 0, Stage::node_bytes);
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::fold_of(I) == fold::monoid) {
        if constexpr (Stage::view().begins_monoid(I)) {
          constexpr int region = Stage::x.first_region + Stage::view().identity_region(I);
          run_region<C, region>(f);
          unroll<C::tape.regions[region].outputs.count>([&]<int K>(std::integral_constant<int, K>) {
            constexpr int out = C::output(region, K);
            std::memcpy(to + Stage::offset(I + K), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
          });
        }
      }
    });
  }

 private:
  static constexpr auto results = [] {
    written_table<node_result, Stage::results> list;
    for (int i = 0; i < Stage::results; ++i) {
      const int v = C::result(E, i);
      if (Stage::folded(i))
        list.add({Stage::fold_of(i), C::values[v].type, Stage::offset(i), C::bytes(v), C::values[v].shape.size(),
                  C::plan.where[v]});
    }
    return list;
  }();
  static constexpr node_facts make() {
    node_facts n;
    n.stage = static_cast<std::size_t>(Stage::ordinal);
    n.bytes = Stage::node_bytes;
    n.members_of_leaf = Stage::members_of_leaf;
    n.has_monoid = Stage::has_monoid;
    n.results = results.all();
    for (int i = Stage::results - 1; i >= 0; --i)
      if (Stage::folded(i)) n.of_member = C::plan.where[C::output(Stage::body, i)];
    n.combine = n.join = combine;
    n.neutral = neutral;
    return n;
  }

 public:
  static constexpr node_facts facts = make();
};

}  // namespace drx::run
