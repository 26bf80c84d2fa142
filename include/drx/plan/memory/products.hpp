// drx/plan/memory/products.hpp: the matrix products that may run at the head of a fused loop. Each tile of such a
// product goes through the loop while it is in the first cache, and is never stored.
// Tested by tests/unit/run/products.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/pipeline.hpp>

namespace drx::plan {

/// The extents of a product: batches of m x k times k x n.
struct product_extents {
  std::int64_t batches = 0, m = 0, n = 0, k = 0;
  bool tx = false, ty = false;

  /// Whether the product is too large for register tiles over whole operands.
  constexpr bool large() const { return m * n * k > machine::most_tiled_multiplications; }
  /// Whether a product of floating numbers is computed in packed blocks (run/gemm/blocked.hpp). Longer sums than
  /// these would be too long chains.
  constexpr bool in_blocks() const { return large() && m > 1 && n > 1 && k <= machine::longest_blocked_sum; }
  /// The number of results, if each is the dot product of one row in memory with the same vector, the other operand;
  /// else 0.
  constexpr std::int64_t dots() const {
    return batches != 1 || k == 0 || large() ? 0 : n == 1 && !tx ? m : m == 1 && ty ? n : 0;
  }
};

constexpr product_extents extents_of(const frozen_view& t, const frozen_entry& x) {
  const shape first = t.values[static_cast<int>(t.pool[x.operands.first])].shape,
              z = t.values[static_cast<int>(t.pool[x.results.first])].shape;
  product_extents p;
  const prim::rules::matmul::view product(t.attributes(x));
  p.tx = product.transposes_first, p.ty = product.transposes_second;
  p.m = z[z.rank - 2], p.n = z[z.rank - 1], p.k = first[p.tx ? first.rank - 2 : first.rank - 1];
  p.batches = p.m * p.n == 0 ? 0 : z.size() / (p.m * p.n);
  return p;
}

/// Whether x is one product whose rows are whole packs on every target.
constexpr bool runs_in_tiles(const frozen_view& t, const frozen_entry& x) {
  if (x.prim != &prim::matmul || !is_floating(t.values[static_cast<int>(t.pool[x.results.first])].type)) return false;
  const product_extents p = extents_of(t, x);
  return p.batches == 1 && p.m > 1 && p.n % machine::widest_vector == 0 && p.k > 0 && !p.large();
}

}  // namespace drx::plan
