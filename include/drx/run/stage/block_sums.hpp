// drx/run/stage/block_sums.hpp: sums over a block's members that are added directly to the sums in the node: products,
// x^T r over the members, and rows that are scattered into a large array.
// Tested by tests/unit/run/long_members.cpp, tests/unit/run/many_members.cpp and tests/unit/run/scattered_sums.cpp.
#pragma once

#include <drx/run/stage/scattered_rows.hpp>

namespace drx::run {

/// `Stage`: the facts of a stage. If a result is the sum of a matrix-vector product, or of scattered rows, that nothing
/// else reads, it is not stored and then added, but goes from registers to the sums. Such steps are the last ones of a
/// block, so that nothing takes the place of their operands.
template <class Stage>
struct sums_of_block {
  using C = typename Stage::code;

  /// The result that step `step` of body Body computes in this way, or -1.
  template <int Body>
  static constexpr int result_of_step(int step) {
    if constexpr (Body > 0 && Stage::parent < 0)
      return results_of_steps<Body>.of[step];
    else
      return -1;
  }
  /// The first step of body Body that computes result i in this way, or -1.
  template <int Body>
  static constexpr int step_of(int i) {
    if constexpr (Body > 0 && Stage::parent < 0)
      for (int s = 0; s < C::plan.step_count[Stage::body + Body]; ++s)
        if (results_of_steps<Body>.of[s] == i) return s;
    return -1;
  }
  /// Whether body Body scatters result i in this way.
  template <int Body>
  static constexpr bool is_scattered(int i) {
    const int step = step_of<Body>(i);
    return step >= 0 && C::tape.entries[entry_of_step<Body>(step)].prim == &prim::scatter;
  }
  /// Computes these results, after body Body has run all its other steps, and writes them to a node or adds them to the
  /// numbers there. Of several turns, `turn` covers its part of the products' members. `Nodes` knows the node's tables
  /// (run/stage/task_nodes.hpp).
  template <int Body, int Turns, class Nodes>
  static void run(const frame& f, std::byte* node, bool add, int turn) {
    if constexpr (Body > 0 && Stage::parent < 0)
      unroll<C::plan.step_count[Stage::body + Body]>([&]<int Step>(std::integral_constant<int, Step>) {
        constexpr int i = results_of_steps<Body>.of[Step];
        if constexpr (i >= 0 && step_of<Body>(i) == Step) {
          if constexpr (!is_scattered<Body>(i)) {
            run_product<entry_of_step<Body>(Step), Turns>(f, node + Stage::offset(i), add, turn);
          } else if (turn == Turns - 1) {  // (it may write where operands of the products before lie)
            if constexpr (Nodes::template is_table<i>)
              scatters<Body, i>::run(f, Nodes::template table_of<i>(node), add);
            else
              scatters<Body, i>::run(f, node + Stage::offset(i), add);
          }
        }
      });
  }

 private:
  template <int Body>
  static constexpr int entry_of_step(int step) {
    return C::plan.steps[C::plan.first_step[Stage::body + Body] + step].entry;
  }
  template <int E, int Turns>
  static void run_product(const frame& f, std::byte* to, bool add, int turn) {
    constexpr int k = static_cast<int>(plan::extents_of(C::tape.view(), C::tape.entries[E]).k);
    if constexpr (k % Turns != 0) {
      if (turn == 0) run_product<E, 1>(f, to, add, 0);
    } else if (add || turn > 0) {
      add_product<E, k / Turns, true>(f, to, turn * (k / Turns));
    } else {
      add_product<E, k / Turns, false>(f, to, 0);
    }
  }
  /// Product E over K of the members that it sums, from `first` on.
  template <int E, int K, bool Add>
  [[gnu::noinline]] static void add_product(const frame& f, std::byte* to, int first) {
    using T = element_of<C, C::result(E, 0)>;
    constexpr plan::product_extents product = plan::extents_of(C::tape.view(), C::tape.entries[E]);
    constexpr bool column = product.n == 1;  // x^T r is computed as the row r^T x
    constexpr int n = static_cast<int>(column ? product.m : product.n);
    constexpr int matrix = C::operand(E, column ? 0 : 1);  // (its numbers may be of 16 bits, those of the row not)
    const T* row = elements<const T, C, C::operand(E, column ? 1 : 0)>(f) + first;
    const auto* x = elements<const element_of<C, matrix>, C, matrix>(f) + first * n;
    T* sum = reinterpret_cast<T*>(to);
    if constexpr (Add)
      gemm<T, 1, n, K, false, false>(row, x, add_to<n>(sum));
    else
      gemm<T, 1, n, K, false, false>(row, x, store_to<n>(sum));
  }

  static constexpr bool is_product(int e) {
    if (C::tape.entries[e].prim != &prim::matmul) return false;
    const plan::product_extents product = plan::extents_of(C::tape.view(), C::tape.entries[e]);
    const bool row = product.m == 1 && !product.ty, column = product.n == 1 && product.tx;
    return product.batches == 1 && product.k > 0 && !product.large() && (row || column) &&
           is_floating(C::values[C::result(e, 0)].type);
  }
  /// How often a region's entries and outputs read value v, or what names its memory.
  static constexpr int readers(int region, int v) {
    const auto& r = C::tape.regions[region];
    int n = 0;
    for (int i = 0; i < r.outputs.count; ++i) n += C::root(C::output(region, i)) == v;
    for (int e = r.first_entry; e < r.first_entry + r.entries; ++e)
      if (const primitive* prim = C::tape.entries[e].prim; prim != &prim::reshape && prim != &prim::stop_gradient)
        for (int i = 0; i < C::tape.entries[e].operands.count; ++i) n += C::root(C::operand(e, i)) == v;
    return n;
  }
  /// Adds the entries that compute v, a product or a sum of scattered rows, which only one reader has. Whether v is
  /// that.
  static constexpr bool add_entries(vec<int>& entries, int region, int v, bool of_sum = false) {
    const int e = C::definition(v);
    if (e < 0 || readers(region, v) != 1) return false;
    entries.push_back(e);
    if (C::tape.entries[e].prim == &prim::add)
      return add_entries(entries, region, C::root(C::operand(e, 0)), true) &&
             add_entries(entries, region, C::root(C::operand(e, 1)), true);
    return are_scattered_rows<C>(e) || (!of_sum && is_product(e));
  }
  /// The entries of a region that may compute result i in this way, if their steps are the last ones; or none.
  static constexpr vec<int> entries_of(int region, int i) {
    vec<int> entries;
    const bool summed = Stage::fold_of(i) == fold::sum || Stage::fold_of(i) == fold::mean;
    if (!summed || !add_entries(entries, region, C::root(C::output(region, i)))) return {};
    if (!is_product(entries[0]) && !are_worth_it<C>(entries)) return {};
    return entries;
  }
  /// Whether a step's entries are all among these, some of them, or none: 2, 1, 0.
  static constexpr int among(const plan::step& step, const vec<int>& entries) {
    if (!step.is_loop) return entries.find(step.entry) >= 0 ? 2 : 0;
    int n = 0;
    for (int k = 0; k < step.members + step.sums; ++k) n += entries.find(C::plan.members[step.first_member + k]) >= 0;
    return n == 0 ? 0 : n == step.members + step.sums && step.entry < 0 ? 2 : 1;
  }
  template <int Size>
  struct numbered {
    int of[Size] = {};
  };
  template <int Body>
  static constexpr auto results_of_steps = [] {
    constexpr int region = Stage::body + Body, steps = C::plan.step_count[region];
    numbered<steps + 1> all;
    auto& of = all.of;
    for (int& result : of) result = -1;
    for (int i = 0; i < Stage::results; ++i) {
      const vec<int> entries = entries_of(region, i);
      bool whole = true;
      for (int s = 0; s < steps; ++s)
        whole = whole && among(C::plan.steps[C::plan.first_step[region] + s], entries) != 1;
      for (int s = 0; whole && s < steps; ++s)
        if (among(C::plan.steps[C::plan.first_step[region] + s], entries) == 2) of[s] = i;
    }
    for (bool changed = true; changed;) {  // a result with a step before others is computed as usual
      changed = false;
      int last = -1;
      for (int s = 0; s < steps; ++s)
        if (of[s] < 0) last = s;
      for (int s = 0; s < last; ++s)
        if (const int i = of[s]; i >= 0) {
          for (int& result : of)
            if (result == i) result = -1;
          changed = true;
        }
    }
    return all;
  }();
  /// The scatters that compute result I of body Body, in the order of their steps.
  template <int Body, int I>
  static constexpr auto scatters_of = [] {
    constexpr int region = Stage::body + Body;
    constexpr int count = [] {
      int n = 0;
      for (const int e : entries_of(region, I)) n += C::tape.entries[e].prim == &prim::scatter;
      return n;
    }();
    numbered<count> scatters;
    int n = 0;
    for (int s = 0; s < C::plan.step_count[region]; ++s)
      if (const plan::step& now = C::plan.steps[C::plan.first_step[region] + s];
          results_of_steps<Body>.of[s] == I && !now.is_loop)
        scatters.of[n++] = now.entry;
    return scatters;
  }();

 public:
  /// How body Body computes result I, which it scatters.
  template <int Body, int I>
  struct scatters : scattered_rows<C, scatters_of<Body, I>> {};
};

}  // namespace drx::run
