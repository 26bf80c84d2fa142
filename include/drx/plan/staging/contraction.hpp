// drx/plan/staging/contraction.hpp: which sums of products are products of matrices (contractions.hpp).
// Tested by tests/unit/plan/contractions.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// Longer sums are added up in parts, which keeps digits that a product of few rows would lose.
inline constexpr std::int64_t longest_contraction = 1024;

/// The factors of a sum that is a matrix product: x has no axis j, y no axis i; -1 if it is none.
struct contraction {
  int x = -1, y = -1;  // before they are repeated
  int i = 0, j = 0, k = 0;
};

/// The one axis along which v is repeated; -1 if it is not, or along several.
constexpr int repeated_axis(const definitions& definition, int v) {
  const entry* e = definition.of(v);
  if (!e || e->prim != &prim::broadcast_to) return -1;
  const shape from = definition.t.values[e->operands[0]].shape, to = definition.t.values[v].shape;
  if (from.rank != to.rank) return -1;
  int axis = -1;
  for (int k = 0; k < to.rank; ++k) {
    if (from[k] == to[k]) continue;
    if (axis >= 0) return -1;
    axis = k;
  }
  return axis;
}

/// The factors of the sum of `summed` over an axis.
constexpr contraction contraction_of(const definitions& definition, int summed, int axis) {
  contraction c;
  const abstract_value& from = definition.t.values[summed];
  const entry* product = definition.of(summed);
  if (!product || (product->prim != &prim::mul && product->prim != &prim::azmul)) return c;
  c.k = axis;
  c.i = c.k == 0 ? 1 : 0;
  c.j = 3 - c.k - c.i;
  if (from.shape.rank != 3 || !is_floating(from.type) || from.shape[c.k] > longest_contraction) return c;
  for (int first = 0; first < 2; ++first) {
    const int x = product->operands[first], y = product->operands[1 - first];
    if (repeated_axis(definition, x) != c.j || repeated_axis(definition, y) != c.i) continue;
    c.x = definition.of(x)->operands[0];
    c.y = definition.of(y)->operands[0];
  }
  return c;
}

constexpr contraction contraction_of(const definitions& definition, const entry& e) {
  if (e.prim != &prim::sum || prim::rules::sum::view(e).axes.size() != 1) return {};
  return contraction_of(definition, e.operands[0], static_cast<int>(prim::rules::sum::view(e).axes[0]));
}

}  // namespace drx::plan
