// drx/plan/staging/identity_products.hpp: a product with an identity matrix is its other factor. Jacobians and Hessians
// multiply the first linear operation's matrix by one, since they push the unit vectors forward.
// Tested by tests/unit/plan/identity_products.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// Whether e is a square matrix of numbers that are 1 where its two indices are equal, and else 0.
constexpr bool is_identity_matrix(const definitions& definition, const entry& e) {
  if (e.prim != &prim::cast || definition.t.values[e.results[0]].shape.rank != 2) return false;
  const entry* equal = definition.of(e.operands[0]);
  if (!equal || equal->prim != &prim::equal) return false;
  const entry *first = definition.of(equal->operands[0]), *second = definition.of(equal->operands[1]);
  if (!first || !second || first->prim != &prim::iota || second->prim != &prim::iota) return false;
  const shape s = definition.t.values[e.results[0]].shape;
  return prim::rules::iota::view(*first).axis != prim::rules::iota::view(*second).axis && s[0] == s[1];
}

/// Whether t may have identity matrices, in regions too.
constexpr bool may_have_identity_matrices(const tape& t) {
  return any_entry(t, [](const entry& e) { return e.prim == &prim::equal; }) &&
         any_entry(t, [](const entry& e) { return e.prim == &prim::iota; });
}

/// t without products by identity matrices, in regions too; `inputs` says which of t's inputs are such matrices.
constexpr tape without_identity_products(const tape& t, const vec<bool>& inputs) {
  const definitions definition(t);
  vec<bool> identity(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) identity[t.inputs[i]] = inputs[i];
  const auto product = [&](rewriter& w, const entry& e) {  // the other factor, or -1
    for (int i = 0; i < 2; ++i) {
      if (!identity[e.operands[i]]) continue;
      const int other = w.names[e.operands[1 - i]];
      return prim::rules::matmul::view(e).transposes(1 - i) ? emit::swap_last_two(w.b, other) : other;
    }
    return -1;
  };
  return rewritten(t, [&](rewriter& w, const entry& e) -> vec<int> {
    if (is_identity_matrix(definition, e) || (e.prim == &prim::broadcast && identity[e.operands[0]]))
      identity[e.results[0]] = true;
    if (prim::is_matrix_product(e.prim))
      if (const int factor = product(w, e); factor >= 0) return {factor};
    return w.copied_with(
        [&](const tape& region) {
          const bool is_loop = e.prim == &prim::scan;
          const int handed_on =
              is_loop ? prim::rules::scan::view(e).constants : (e.prim == &prim::map ? e.operands.size() : 0);
          vec<bool> inside(region.inputs.size(), false);
          bool any = false;
          for (int i = 0; i < handed_on; ++i) any |= inside[i + is_loop] = identity[e.operands[i]];
          tape r = region;  // (no conditional operator: g++ 12 destroys its temporaries twice in constant evaluation)
          if (any || may_have_identity_matrices(region)) r = without_identity_products(region, inside);
          return r;
        },
        e);
  });
}

/// t, a program, without products by identity matrices.
constexpr tape with_identity_products_left_out(tape t) {
  if (!may_have_identity_matrices(t)) return t;
  return without_identity_products(t, vec<bool>(t.inputs.size(), false));
}

}  // namespace drx::plan
