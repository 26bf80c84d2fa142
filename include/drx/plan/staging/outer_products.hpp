// drx/plan/staging/outer_products.hpp: a matrix product over one number, x y^T, is x times y, both broadcast: an
// elementwise entry, guarded if the product is, which runs in the loop that reads it. Programs keep it a product up to
// here, since sums of such products are larger products.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// Whether e is a product whose inner extent is 1.
constexpr bool is_outer_product(const tape& t, const entry& e) {
  return prim::is_matrix_product(e.prim) && prim::rules::matmul::view(e).inner(t.values[e.operands[0]].shape) == 1;
}

constexpr bool has_outer_products(const tape& t) {
  for (const entry& e : t.entries) {
    if (is_outer_product(t, e)) return true;
    for (const tape& r : e.regions)
      if (has_outer_products(r)) return true;
  }
  return false;
}

/// t with its outer products as elementwise products, in regions too.
constexpr tape with_outer_products_as_elements(tape t) {
  if (!has_outer_products(t)) return t;
  builder b;
  rewriter w(b, t, inputs_like(b, t));
  w.write([&](const entry& e) {
    if (!is_outer_product(t, e)) return w.copied_with(with_outer_products_as_elements, e);
    const vec<int> operands = w.operands(e);
    const shape to = t.values[e.results[0]].shape;
    const auto spread = [&](int operand, bool column) {  // a column of numbers, or a row
      shape s = to;
      s[column ? to.rank - 1 : to.rank - 2] = 1;
      return emit::broadcast_to(b, emit::reshape(b, operand, s), to);
    };
    const int rows = spread(operands[0], true), columns = spread(operands[1], false);
    return vec<int>{prim::rules::matmul::elementwise(b, *e.prim, rows, columns)};
  });
  for (int o : w.outputs()) b.output(o);
  return b.take();
}

}  // namespace drx::plan
