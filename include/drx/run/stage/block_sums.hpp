// drx/run/stage/block_sums.hpp: a block's last products, x^T r over its members, are added directly to the sums in the
// node.
// Tested by tests/unit/run/long_members.cpp and tests/unit/run/many_members.cpp.
#pragma once

#include <drx/run/kernels/all.hpp>

namespace drx::run {

/// `Stage`: the facts of a stage. If a result is the sum of a matrix-vector product that nothing else reads, the
/// product is not stored and then added, but goes from registers to the sums. Such products are the last steps of a
/// block, so that nothing takes the place of their operands.
template <class Stage>
struct sums_of_block {
  using C = typename Stage::code;

  /// The result that step `step` of body Body computes in this way, or -1.
  template <int Body>
  static constexpr int result_of_step(int step) {
    if constexpr (Body > 0 && Stage::parent < 0)
      for (int i = 0; i < Stage::results; ++i)
        if (step_of<Body>(i) == step) return i;
    return -1;
  }
  /// The step of body Body that computes result i in this way, or -1.
  template <int Body>
  static constexpr int step_of(int i) {
    if constexpr (Body > 0 && Stage::parent < 0) {
      constexpr int region = Stage::body + Body;
      for (int s = C::plan.step_count[region] - 1; s >= 0; --s) {
        const int made = result_made_by(region, s);
        if (made < 0) return -1;
        if (made == i) return s;
      }
    }
    return -1;
  }
  /// Computes result I, after body Body has run all its other steps, and writes it to `to` or adds it to the numbers
  /// there. Of several turns, `turn` covers its part of the sum's members.
  template <int Body, int I, int Turns>
  static void run(const frame& f, std::byte* to, bool add, int turn) {
    constexpr int e = C::plan.steps[C::plan.first_step[Stage::body + Body] + step_of<Body>(I)].entry;
    constexpr int k = static_cast<int>(plan::extents_of(C::tape.view(), C::tape.entries[e]).k);
    if constexpr (k % Turns != 0) {
      if (turn == 0) run<Body, I, 1>(f, to, add, 0);
    } else if (add || turn > 0) {
      add_product<e, k / Turns, true>(f, to, turn * (k / Turns));
    } else {
      add_product<e, k / Turns, false>(f, to, 0);
    }
  }

 private:
  /// Product E over K of the members that it sums, from `first` on.
  template <int E, int K, bool Add>
  [[gnu::noinline]] static void add_product(const frame& f, std::byte* to, int first) {
    using T = element_of<C, C::result(E, 0)>;
    constexpr plan::product_extents product = plan::extents_of(C::tape.view(), C::tape.entries[E]);
    constexpr bool column = product.n == 1;  // x^T r is computed as the row r^T x
    constexpr int n = static_cast<int>(column ? product.m : product.n);
    const T* row = elements<const T, C, C::operand(E, column ? 1 : 0)>(f) + first;
    const T* x = elements<const T, C, C::operand(E, column ? 0 : 1)>(f) + first * n;
    T* sum = reinterpret_cast<T*>(to);
    if constexpr (Add)
      gemm<T, 1, n, K, false, false>(row, x, add_to<n>(sum));
    else
      gemm<T, 1, n, K, false, false>(row, x, store_to<n>(sum));
  }

  static constexpr int result_made_by(int region, int step) {
    const plan::step now = C::plan.steps[C::plan.first_step[region] + step];
    if (now.is_loop || C::tape.entries[now.entry].prim != &prim::matmul) return -1;
    const plan::product_extents product = plan::extents_of(C::tape.view(), C::tape.entries[now.entry]);
    const bool row = product.m == 1 && !product.ty, column = product.n == 1 && product.tx;
    const int made = C::result(now.entry, 0);
    if (product.batches != 1 || product.k == 0 || product.large() || !(row || column) ||
        !is_floating(C::values[made].type))
      return -1;
    int result = -1;
    for (int i = 0; i < Stage::results; ++i) {
      if (C::root(C::output(region, i)) != made) continue;
      const bool summed = Stage::fold_of(i) == fold::sum || Stage::fold_of(i) == fold::mean;
      if (result >= 0 || !summed) return -1;
      result = i;
    }
    const auto& r = C::tape.regions[region];
    for (int e = r.first_entry; e < r.first_entry + r.entries; ++e) {
      const primitive* prim = C::tape.entries[e].prim;
      for (int i = 0; i < C::tape.entries[e].operands.count; ++i)
        if (C::root(C::operand(e, i)) == made && prim != &prim::reshape && prim != &prim::stop_gradient) return -1;
    }
    return result;
  }
};

}  // namespace drx::run
