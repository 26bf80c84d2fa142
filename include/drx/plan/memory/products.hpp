// drx/plan/memory/products.hpp: the matrix products that may run at the head of a fused loop. Each tile of such a
// product goes through the loop while it is in the first cache, and is never stored.
// Tested by tests/unit/run/products.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/pipeline.hpp>

#include <algorithm>

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

/// Numbers of a product's packed blocks: rows and columns of a block in whole tiles of any target, whose rows are at
/// most 16 and whose columns are two of the widest vectors. Of B it is one panel if one block has all rows of A.
constexpr std::int64_t packed_rows(std::int64_t m) {
  return std::min(machine::product_rows, m + machine::widest_vector);
}
constexpr std::int64_t packed_columns(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t panel = 2 * machine::widest_vector;
  return m <= machine::product_rows ? panel : std::min(machine::product_columns, n + panel);
}
/// Elements of both, and of the vector that is written, in part, beyond the end of A.
constexpr std::int64_t packed_size(std::int64_t m, std::int64_t n, std::int64_t k) {
  return (packed_rows(m) + packed_columns(m, n)) * std::min(machine::product_depth, k) + machine::widest_vector;
}
/// Elements that run::blocked_product computes in: packed blocks and, for long sums, a second result.
constexpr std::int64_t blocked_work(std::int64_t m, std::int64_t n, std::int64_t k) {
  return packed_size(m, n, k) + (k > machine::product_chain ? m * n : 0);
}

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

/// Bytes in which x computes, if it is a product in blocks; else 0.
constexpr std::int64_t blocked_bytes(const frozen_view& t, const frozen_entry& x) {
  if (x.prim != &prim::matmul) return 0;
  const dtype type = t.values[static_cast<int>(t.pool[x.results.first])].type;
  const product_extents p = extents_of(t, x);
  return is_floating(type) && p.in_blocks() ? blocked_work(p.m, p.n, p.k) * byte_size(type) : 0;
}

/// Whether x is one product whose rows are whole packs on every target.
constexpr bool runs_in_tiles(const frozen_view& t, const frozen_entry& x) {
  if (x.prim != &prim::matmul || !is_floating(t.values[static_cast<int>(t.pool[x.results.first])].type)) return false;
  const product_extents p = extents_of(t, x);
  return p.batches == 1 && p.m > 1 && p.n % machine::widest_vector == 0 && p.k > 0 && !p.large();
}

}  // namespace drx::plan
