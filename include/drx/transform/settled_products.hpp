// drx/transform/settled_products.hpp: decides in which products of derivatives a zero must win. Rules write undecided
// products (primitives/guarded.hpp): where a region is differentiated, its inputs are not known yet. The whole program
// shows which products need the guard.
#pragma once

#include <drx/transform/known_values.hpp>

namespace drx::transform {

namespace detail {
constexpr bool has_doubts(const tape& t) {
  return any_entry(t,
                   [](const entry& e) { return e.prim == &prim::mul_undecided || e.prim == &prim::matmul_undecided; });
}
/// A matrix product with one row or one column, by products of elements in which a zero wins.
constexpr int product_of_elements(builder& b, const entry& e, const vec<int>& operands) {
  const auto [tx, ty] = prim::rules::matmul::view(e);
  const int x = tx ? emit::swap_last_two(b, operands[0]) : operands[0];
  const int y = ty ? operands[1] : emit::swap_last_two(b, operands[1]);  // rows of both are multiplied
  const int r = b.shape(x).rank;
  const std::int64_t rows = b.shape(x)[r - 2], columns = b.shape(y)[r - 2];
  shape to = b.shape(x);
  to[r - 1] = columns;
  const shape each = b.shape(columns == 1 ? x : y);
  if (rows != 1 && columns != 1) throw "drx: a product of matrices that is in doubt";
  const int of_x = emit::broadcast_to(b, x, each), of_y = emit::broadcast_to(b, y, each),
            all = emit::azmul(b, of_x, of_y);
  return emit::reshape(b, emit::sum(b, all, {r - 1}), to);
}
constexpr tape settled(const tape& t, const known_values& inputs);

constexpr vec<int> settled_entry(rewriter& w, const definitions& definition, const entry& e, const known_values& in) {
  builder& b = w.b;
  const vec<int> operands = w.operands(e);
  const bool finite = e.operands.size() == 2 && in[0].finite && in[1].finite;
  if (e.prim == &prim::mul_undecided)
    return {finite ? emit::mul(b, operands[0], operands[1]) : emit::azmul(b, operands[0], operands[1])};
  if (e.prim == &prim::matmul_undecided) {
    if (finite) return {b.add1(prim::matmul, operands, e.attrs)};
    const bool is_outer = prim::rules::matmul::view(e).inner(b.shape(operands[0])) == 1;
    if (is_outer) return {b.add1(prim::azmatmul, operands, e.attrs)};
    return {product_of_elements(b, e, operands)};
  }
  tapes regions;
  for (int i = 0; i < e.regions.size();
       ++i) {  // (no conditional operator: g++ 12 destroys its temporaries twice in constant evaluation)
    if (has_doubts(e.regions[i])) {
      regions.push_back(settled(e.regions[i], known_in_region(definition, e, i, in)));
    } else {
      regions.push_back(e.regions[i]);
    }
  }
  return w.copied(e, regions);
}
constexpr tape settled(const tape& t, const known_values& inputs) {
  const definitions definition(t);
  const known_values known = known_in_tape(definition, inputs);
  return rewritten(t, [&](rewriter& w, const entry& e) {
    known_values in;
    for (int o : e.operands) in.push_back(known[o]);
    return settled_entry(w, definition, e, in);
  });
}
}  // namespace detail

/// t, the whole of a program, without undecided products: each becomes a plain one if both sides are finite for finite
/// inputs, and else a guarded one, in which a zero wins.
constexpr tape settled_products(const tape& t) {
  if (!detail::has_doubts(t)) return t;
  return detail::settled(t, known_values(t.inputs.size(), any_finite()));
}

}  // namespace drx::transform
