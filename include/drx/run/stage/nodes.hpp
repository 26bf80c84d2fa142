// drx/run/stage/nodes.hpp: arithmetic on the nodes of a stage's tree: two neighbours become one, the root becomes the
// stage's results.
// Tested by tests/unit/run/executor_placements.cpp and tests/unit/run/largest_member.cpp.
#pragma once

#include <drx/run/kernels/fold_operations.hpp>
#include <drx/run/kernels/all.hpp>
#include <drx/run/data/node_list.hpp>
#include <drx/run/stage/facts.hpp>

#include <cstring>

namespace drx::run {

/// `Stage`: the facts of a stage (facts.hpp). A node has the folded results of some members, packed.
template <class Stage>
struct stage_nodes {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;

  /// Adds the node on the right to the one on the left.
  static void combine(frame& f, std::byte* left, const std::byte* right) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::fold_of(I) == fold::monoid) {
        if constexpr (Stage::view().begins_monoid(I)) combine_monoid<I>(f, left, right);
      } else if constexpr (Stage::folded(I)) {
        fold_elements<I>(left + Stage::offset(I), left + Stage::offset(I), right + Stage::offset(I),
                         C::values[C::result(E, I)].shape.size());
      }
    });
  }
  /// Adds n elements of result I; `to` may be `left`.
  template <int I>
  static void fold_elements(std::byte* to, const std::byte* left, const std::byte* right, std::int64_t n) {
    using T = element_of<C, C::result(E, I)>;
    T* y = reinterpret_cast<T*>(to);
    const T* a = reinterpret_cast<const T*>(left);
    const T* b = reinterpret_cast<const T*>(right);
    DRX_INDEPENDENT_STEPS
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (Stage::fold_of(I) == fold::max) {
        y[i] = detail::max_op{}(a[i], b[i]);
      } else if constexpr (Stage::fold_of(I) == fold::min) {
        y[i] = detail::min_op{}(a[i], b[i]);
      } else {
        y[i] = detail::add_op{}(a[i], b[i]);
      }
    }
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

  /// Combines node `right` into node `left`; the signature that node_list expects.
  static auto joins(frame& f) {
    return [&f](std::byte* left, const std::byte* right) { combine(f, left, right); };
  }
  /// Appends the nodes of `part`, which lie one after the other in `data`, to a list.
  static void append(frame& f, node_list& list, const node_list& part, std::byte* data) {
    for (int i = 0; i < part.size(); ++i) list.push(part.at(i), data + i * Stage::node_bytes, joins(f));
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
  /// Writes the root of the tree to the results' places; means are divided.
  static void finish(frame& f, const std::byte* from, std::int64_t n) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(E, I);
      if constexpr (Stage::folded(I)) {
        std::memcpy(address<C, v>(f), from + Stage::offset(I), static_cast<std::size_t>(C::bytes(v)));
        divide<I>(address<C, v>(f), C::values[v].shape.size(), n);
      }
    });
  }
  /// Writes elements of result I, divided by n if it is a mean.
  template <int I>
  static void divide(std::byte* at, std::int64_t elements, std::int64_t n) {
    if constexpr (Stage::fold_of(I) == fold::mean) {
      using T = element_of<C, C::result(E, I)>;
      T* y = reinterpret_cast<T*>(at);
      const T count = n == 0 ? T(1) : static_cast<T>(n);
      for (std::int64_t i = 0; i < elements; ++i) y[i] /= count;
    }
  }
};

}  // namespace drx::run
