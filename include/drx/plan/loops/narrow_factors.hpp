// drx/plan/loops/narrow_factors.hpp: a product of a matrix with a vector reads numbers of 16 bits as they are, and widens
// them in registers: the matrix that they are cast to would be written to memory, and read there by each product.
// Widening is exact, so the bits are the same.
// Tested by tests/unit/run/narrow_factors.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/tape/known_value.hpp>
#include <drx/tape/rewrite.hpp>

#include <utility>

namespace drx::plan {

/// The operand of a product that may have numbers of 16 bits: the matrix in a product with a vector, whose rows are
/// read in order, in packs; else -1.
constexpr int widened_operand(const tape& t, const entry& e) {
  if (e.prim != &prim::matmul) return -1;
  const shape x = t.values[e.operands[0]].shape, z = t.values[e.results[0]].shape;
  const prim::rules::matmul::view product(e);
  const auto [tx, ty] = product;
  if (z.rank != 2 || product.inner(x) == 0) return -1;
  if (z.size() == 1 && !tx && !ty) return -1;  // (a sum over members computes it as the second operand's row)
  if (z[1] == 1) return !tx || z[0] >= machine::widest_vector ? 0 : -1;
  return z[0] == 1 && (ty || z[1] >= machine::widest_vector) ? 1 : -1;
}
/// Whether e casts numbers of 16 bits to floats. (To double takes several instructions.)
constexpr bool is_widening(const tape& t, const entry& e) {
  return e.prim == &prim::cast && is_half_type(t.values[e.operands[0]].type) &&
         t.values[e.results[0]].type == dtype::float32;
}
/// By value of t: the numbers of 16 bits of which it is a cast that nothing but such products reads, as such an
/// operand; else -1. These numbers lie in memory anyway; those that a loop has just made, it may widen.
constexpr vec<int> narrow_factors(const tape& t) {
  const definitions definition(t);
  const auto is_in_memory = [&](int v) {
    const entry* e = definition.of(v);
    while (e && e->prim->role == role::alias) e = definition.of(e->operands[0]);
    return !e || e->prim->role == role::step;
  };
  vec<int> narrow(t.values.size(), -1);
  for (const entry& e : t.entries) {
    if (is_widening(t, e) && is_in_memory(e.operands[0])) narrow[e.results[0]] = e.operands[0];
    const int matrix = widened_operand(t, e);
    for (int i = 0; i < e.operands.size(); ++i)
      if (i != matrix) narrow[e.operands[i]] = -1;
  }
  for (int o : t.outputs) narrow[o] = -1;
  return narrow;
}

/// t whose products of matrices with vectors read numbers of 16 bits, in regions too.
constexpr tape with_narrow_factors(tape t) {
  bool widens = false;
  for (entry& e : t.entries) {
    for (tape& r : e.regions) r = with_narrow_factors(std::move(r));
    widens = widens || is_widening(t, e);
  }
  if (!widens) return t;
  const vec<int> narrow = narrow_factors(t);
  for (entry& e : t.entries)
    if (const int i = widened_operand(t, e); i >= 0 && narrow[e.operands[i]] >= 0)
      e.operands[i] = narrow[e.operands[i]];
  return without_dead_entries(std::move(t));
}

}  // namespace drx::plan
