// drx/plan/staging/contractions.hpp: a sum over k of x[i, k] y[j, k], written as arrays that are repeated along i and j,
// is a matrix product: members' outer products add up as one, and pairs are written by broadcasting. Derivatives are
// taken before, of the sum: where a factor is 0, these and those of a product are guarded differently.
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

constexpr contraction contraction_of(const definitions& definition, const entry& e) {
  contraction c;
  if (e.prim != &prim::sum || prim::rules::sum::view(e).axes.size() != 1) return c;
  const abstract_value& from = definition.t.values[e.operands[0]];
  const entry* product = definition.of(e.operands[0]);
  if (!product || (product->prim != &prim::mul && product->prim != &prim::azmul)) return c;
  c.k = static_cast<int>(prim::rules::sum::view(e).axes[0]);
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

constexpr bool has_contractions(const tape& t) {
  const definitions definition(t);
  for (const entry& e : t.entries) {
    if (contraction_of(definition, e).x >= 0) return true;
    for (const tape& r : e.regions)
      if (has_contractions(r)) return true;
  }
  return false;
}

/// t with such sums as matrix products, in regions too.
constexpr tape with_contractions(tape t) {
  if (!has_contractions(t)) return t;
  const definitions definition(t);
  return rewritten(t, [&](rewriter& w, const entry& e) -> vec<int> {
    const contraction c = contraction_of(definition, e);
    if (c.x < 0) return w.copied_with(with_contractions, e);
    const shape whole = t.values[e.operands[0]].shape;
    const primitive& product = definition.of(e.operands[0])->prim == &prim::mul ? prim::matmul : prim::azmatmul;
    const int x = emit::reshape(w.b, w.names[c.x], without_axis(whole, c.j)),
              y = emit::reshape(w.b, w.names[c.y], without_axis(whole, c.i));
    return {prim::rules::matmul::written(w.b, product, x, y, c.k<c.i, c.k> c.j)};
  });
}

}  // namespace drx::plan
