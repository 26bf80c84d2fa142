// drx/plan/memory/products.hpp: how matrix products are computed, by their extents: which may run at the head of a fused
// loop, where each tile goes through the loop while it is in the first cache, and is never stored; which are computed
// in packed blocks; which of these ranks divide among each other.
// Tested by tests/unit/run/products.cpp, tests/unit/plan/random_plans.cpp and tests/mpi/divided_products.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/pipeline.hpp>

#include <algorithm>
#include <cstdint>

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
  /// The rows of the result, which lie one behind the other, those of all batches.
  constexpr std::int64_t rows() const { return batches * m; }
  /// Whether ranks may divide the rows among each other: a rank's part of each sum takes longer than its sending.
  constexpr bool divides() const { return in_blocks() && k >= machine::least_divided_terms; }
  /// How many of so many ranks compute rows, each some of them; 1 where each rank computes all.
  constexpr std::int64_t parts(std::int64_t ranks) const {
    if (!divides()) return 1;
    const std::int64_t most =
        std::min(rows() / machine::least_divided_rows, rows() * n * k / machine::least_divided_multiplications);
    return std::max(std::min(ranks, most), std::int64_t{1});
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

/// Whether ranks may divide entry e: a product that all of them reach in the same order, since it lies in no stage, and
/// the program has a stage, so that they all call it. (A program without one may be called by one rank alone.)
constexpr bool divides_over_ranks(const frozen_view& t, int e) {
  const frozen_entry& x = t.entries[e];
  if (!prim::is_matrix_product(x.prim)) return false;
  const abstract_value& z = t.values[static_cast<int>(t.pool[x.results.first])];
  if ((z.type != dtype::float32 && z.type != dtype::float64) || z.depth > 0 || !extents_of(t, x).divides())
    return false;
  bool has_stage = false;
  for (int i = 0; i < t.sizes.entries; ++i) has_stage = has_stage || t.entries[i].prim == &prim::stage;
  if (!has_stage) return false;
  // Of an entry, that with the region that has it, then that with its region, up to the top. (The regions of an entry
  // come after its own.)
  for (int at = e; at >= 0;) {
    int region = 0;
    for (int r = 1; r < t.sizes.regions; ++r)
      if (at >= t.regions[r].first_entry && at < t.regions[r].first_entry + t.regions[r].entries) region = r;
    at = -1;
    for (int i = 0; i < t.sizes.entries && region > 0; ++i)
      if (region >= t.entries[i].first_region && region < t.entries[i].first_region + t.entries[i].regions) at = i;
    if (at >= 0 && t.entries[at].prim == &prim::stage) return false;
  }
  return true;
}

/// Whether x is one product whose rows are whole packs on every target.
constexpr bool runs_in_tiles(const frozen_view& t, const frozen_entry& x) {
  if (x.prim != &prim::matmul || !is_floating(t.values[static_cast<int>(t.pool[x.results.first])].type)) return false;
  const product_extents p = extents_of(t, x);
  return p.batches == 1 && p.m > 1 && p.n % machine::widest_vector == 0 && p.k > 0 && !p.large();
}

}  // namespace drx::plan
