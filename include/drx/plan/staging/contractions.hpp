// drx/plan/staging/contractions.hpp: a sum over k of x[i, k] y[j, k], written as arrays that are repeated along i and j,
// is a matrix product: members' outer products add up as one, and pairs are written by broadcasting. Derivatives are
// taken before, of the sum: where a factor is 0, these and those of a product are guarded differently.
// Tested by tests/unit/plan/contractions.cpp.
#pragma once

#include <drx/plan/staging/sums_of_stacks.hpp>

namespace drx::plan {

/// Whether t has such sums, in regions too.
constexpr bool has_contractions(const tape& t) {
  if (sums_of_stacks(t).any()) return true;
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
  if (const sums_of_stacks sums(t); sums.any()) t = tape(sums.run());
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
